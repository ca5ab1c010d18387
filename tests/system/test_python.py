"""Python stacks joined to the native ones, and the children of a Python program."""

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

SORTED = """
def key(x):
    return sum(range(200000)) + x
def outer():
    while True:
        sorted([3, 1, 2], key=key)
print("ready")
outer()
"""

DEEP = """
import sys
sys.setrecursionlimit(5000)
def descend(n):
    if n == 0:
        while True:
            pass
    return descend(n - 1)
print("ready")
descend(300)
"""

FORK = """
import multiprocessing, os, sys, time
def work():
    parent = os.getppid()
    while os.getppid() == parent:  # not left behind when the parent is killed
        sum(range(10000))
if __name__ == "__main__":
    print("ready")
    sys.stdout.flush()
    time.sleep(float(sys.argv[1]) if len(sys.argv) > 1 else 1)
    for _ in range(2):
        multiprocessing.Process(target=work, daemon=True).start()
    while True:
        time.sleep(1)
"""


class PythonStacks(harness.RecordingTest):
    def recorded(self, script, *options, seconds=SECONDS):
        with harness.python_script(script) as process:
            return self.record_pid(process.pid, seconds, *options)

    def test_c_frames_stand_between_caller_and_callback(self):  # T09
        recorded = self.recorded(SORTED)
        whole, total = recorded.count(lambda s: harness.in_order(s, "_start", "<module>", "outer"))
        self.assertGreaterEqual(whole, 0.99 * total, harness.top_stacks(recorded))
        # Now and then outer() or sorted() itself runs.
        called, _ = recorded.count(lambda s: harness.in_order(s, "outer", "key"))
        self.assertGreaterEqual(called, 0.9 * total, harness.top_stacks(recorded))
        between = 0
        for sample in recorded.cpu.samples:
            names = [frame.name for frame in sample.frames]
            if "outer" in names and "key" in names:
                inner = sample.frames[names.index("outer") + 1 : names.index("key")]
                between += sample.values[0] * any(not f.file.endswith(".py") for f in inner)
        self.assertGreaterEqual(between, 0.99 * called, "frames of sorted() stand between")

    def test_interpreter_frames_between_python_frames_are_hidden(self):
        names = {frame for stack in self.recorded(LOOP).stacks() for frame in stack}
        self.assertNotIn("_PyEval_EvalFrameDefault", names)

    def test_root_is_the_interpreters_own(self):  # T05
        recorded = self.recorded(LOOP)
        whole, total = recorded.count(lambda s: s[0] == "_start")
        self.assertGreaterEqual(whole, 0.99 * total, harness.top_stacks(recorded))

    def test_recursion_of_300_is_whole(self):  # T03
        recorded = self.recorded(DEEP)
        whole, total = recorded.count(lambda s: s.count("descend") == 301)
        self.assertGreaterEqual(whole, 0.99 * total, harness.top_stacks(recorded, 2))


class Forks(harness.RecordingTest):  # T11
    def check_children(self, recorded, parent):
        work = {
            s.labels["pid"] for s in recorded.cpu.samples if any(f.name == "work" for f in s.frames)
        }
        self.assertEqual(2, len(work), f"work runs in two processes: {work}")
        self.assertNotIn(parent, work)

    def test_children_started_later_are_followed(self):
        with harness.python_script(FORK) as process:
            recorded = self.record_pid(process.pid, 4)
        self.check_children(recorded, process.pid)

    def test_children_that_are_there_are_followed(self):
        with harness.python_script(FORK) as process:
            harness.wait_for(lambda: len(harness.children_of(process.pid)) >= 2)
            recorded = self.record_pid(process.pid, SECONDS)
        self.check_children(recorded, process.pid)

    def test_no_children_leaves_them_out_and_says_so(self):
        with harness.python_script(FORK) as process:
            harness.wait_for(lambda: len(harness.children_of(process.pid)) >= 2)
            done = harness.run_lumbre(
                "record", "-p", process.pid, "-d", 2, "--no-children", "-o", self.folder / "alone"
            )
        self.assertEqual(0, done.returncode, done.stderr)
        recorded = harness.Recorded(self.folder / "alone", done, 0)
        pids = {sample.labels["pid"] for sample in recorded.cpu.samples}
        self.assertLessEqual(pids, {process.pid})
        self.assertRegex(done.stderr, r"2 (children|child processes|descendants)")


if __name__ == "__main__":
    harness.main()
