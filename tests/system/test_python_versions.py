"""T07, T13: Python frames on every CPython that is here, stripped ones included."""

import os
import pathlib
import shutil
import subprocess

import harness

SECONDS = 3

LOOP = """
def increase(i):
    return i + 1
def run():
    i = 0
    while i < 10 ** 12:
        i = increase(i)
print("ready")
run()
"""


class LoopTest(harness.RecordingTest):
    def check_loop(self, python, environment=None):  # T07
        with harness.python_script(LOOP, python, env=environment) as process:
            recorded = self.record_pid(process.pid, SECONDS)
            script = process.script
        whole, total = recorded.count(
            lambda s: "<module>" in s and harness.in_order(s, "<module>", "run")
        )
        self.assertGreater(total, SECONDS * harness.ENOUGH_PER_SECOND)
        self.assertGreaterEqual(whole, 0.99 * total, harness.top_stacks(recorded))
        called, _ = recorded.count(lambda s: harness.in_order(s, "<module>", "run", "increase"))
        self.assertGreater(called, 0, harness.top_stacks(recorded))
        self.check_lines(recorded, script)
        return recorded

    def check_lines(self, recorded, script):
        allowed = {"increase": {3, 2}, "run": {6, 7}, "<module>": {9}}
        seen = set()
        for sample in recorded.cpu.samples:
            for frame in sample.frames:
                if frame.name in allowed and frame.file == script:
                    seen.add(frame.name)
                    self.assertIn(frame.line, allowed[frame.name], frame)
        self.assertEqual(set(allowed), seen)


class EveryPython(LoopTest):
    pass


def add_test(path, version):
    def test(self):
        self.check_loop(path)

    name = "test_loop_on_%d_%d_" % version + "".join(c if c.isalnum() else "_" for c in path)
    setattr(EveryPython, name, test)


for interpreter, its_version in sorted(harness.pythons().items()):
    add_test(interpreter, its_version)


class Stripped(LoopTest):
    """T13: the interpreter's own symbols are gone."""

    def test_names_are_there(self):
        source = self.pick()
        prefix = pathlib.Path(source).resolve().parents[1]
        copy = self.folder / "bin" / os.path.basename(source)
        copy.parent.mkdir()
        shutil.copy(source, copy)
        subprocess.run(["strip", "-s", copy], check=True)
        recorded = self.check_loop(str(copy), dict(os.environ, PYTHONHOME=str(prefix)))
        self.assertEqual(0, recorded.cpu.total("samples") - recorded.event["shown"])

    def pick(self):
        """An interpreter that holds CPython itself (no libpython) and its symbols."""
        for path, version in sorted(harness.pythons().items()):
            if version >= (3, 10) and ".pyenv" in path:
                return path
        self.skipTest("no unstripped interpreter here (one by pyenv is looked for)")


if __name__ == "__main__":
    harness.main()
