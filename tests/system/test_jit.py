"""Code made at run time: its names, from perf maps and jitdumps, and its callers."""

import os
import pathlib
import shutil
import subprocess
import unittest

import harness

SECONDS = 2


class Names(harness.RecordingTest):
    def recorded(self, *arguments, seconds=SECONDS, **popen):
        with harness.puppet("jit", seconds + 5, *arguments, **popen) as process:
            self.addCleanup(pathlib.Path(f"/tmp/perf-{process.pid}.map").unlink, missing_ok=True)
            return self.record_pid(process.pid, seconds)

    def assert_leaf(self, recorded, name):
        """The code made at run time is nearly everything that runs."""
        good, total = recorded.count(lambda stack: name in stack)
        self.assertGreater(total, SECONDS * harness.ENOUGH_PER_SECOND)
        self.assertGreaterEqual(good, 0.95 * total, harness.top_stacks(recorded))

    def test_a_perf_map_names_it(self):
        self.assert_leaf(self.recorded("pushes", "map"), "old_name")

    def test_the_later_name_of_a_perf_map_stands_whole(self):  # T27
        recorded = self.recorded("pushes", "reuse")
        self.assert_leaf(recorded, "Foo bar(int, char)<T>")
        names = {frame.name for sample in recorded.cpu.samples for frame in sample.frames}
        self.assertNotIn("old_name", names)

    def test_a_jitdump_names_it_with_its_line(self):
        environment = {**os.environ, "JITDUMP_FOLDER": str(self.folder)}
        recorded = self.recorded("pushes", "dump", env=environment)
        self.assert_leaf(recorded, "dumped_kernel")
        frames = [f for s in recorded.cpu.samples for f in s.frames if f.name == "dumped_kernel"]
        self.assertEqual({("/made/up/kernel.jit", 42)}, {(f.file, f.line) for f in frames})

    def test_without_a_name_it_says_what_it_is(self):
        self.assert_leaf(self.recorded("pushes", "none"), "[jit]")

    def test_a_map_written_at_the_end_still_names_it(self):
        with harness.puppet("jit", 3, "pushes", "late") as process:
            self.addCleanup(pathlib.Path(f"/tmp/perf-{process.pid}.map").unlink, missing_ok=True)
            recorded = self.record_pid(process.pid, 20)
        self.assert_leaf(recorded, "late_name")

    def test_the_map_that_another_process_of_its_pid_left_is_not_taken(self):
        with harness.puppet("jit", SECONDS + 5, "pushes", "none") as process:
            path = pathlib.Path(f"/tmp/perf-{process.pid}.map")
            self.addCleanup(path.unlink, missing_ok=True)
            path.write_text("0 7fffffffffff wrong_name\n")
            os.utime(path, (1, 1))
            recorded = self.record_pid(process.pid, SECONDS)
        self.assert_leaf(recorded, "[jit]")

    def test_a_map_of_another_user_is_not_taken(self):
        with harness.puppet("jit", SECONDS + 5, "pushes", "map") as process:
            path = f"/tmp/perf-{process.pid}.map"
            self.addCleanup(pathlib.Path(path).unlink, missing_ok=True)
            os.chown(path, 12345, 12345)
            recorded = self.record_pid(process.pid, SECONDS)
        self.assert_leaf(recorded, "[jit]")


class Callers(harness.RecordingTest):
    """A planted, known caller is found, and nothing is guessed where nothing has to be."""

    def check(self, shape, *inner):
        with harness.puppet("jit", SECONDS + 5, shape) as process:
            recorded = self.record_pid(process.pid, SECONDS)
        good, total = recorded.count(
            lambda s: harness.in_order(s, "_start", "main", "known_caller", "[jit]", *inner)
        )
        self.assertGreater(total, SECONDS * harness.ENOUGH_PER_SECOND)
        self.assertGreaterEqual(good, 0.99 * total, harness.top_stacks(recorded))
        self.assertEqual(0, recorded.event["approximate"])

    def test_code_without_a_frame_pointer(self):
        self.check("pushes")

    def test_code_with_a_frame_pointer(self):
        self.check("frame")

    def test_through_code_without_a_frame_pointer(self):
        self.check("through_pushes", "called_back")

    def test_through_code_with_a_frame_pointer(self):
        self.check("through_frame", "called_back")


JAVASCRIPT = """
function planted_leaf(n) { return n < 2 ? n : planted_leaf(n - 1) + planted_leaf(n - 2); }
function planted_caller(until) { let s = 0; while (Date.now() < until) s += planted_leaf(20); return s; }
console.log("ready");
planted_caller(Date.now() + 12000);
"""
JAVA = """
public class Planted {
  static int leaf(int n) { return n < 2 ? n : leaf(n - 1) + leaf(n - 2); }
  static long caller(long until) {
    long s = 0;
    while (System.currentTimeMillis() < until) s += leaf(20);
    return s;
  }
  public static void main(String[] a) {
    System.out.println("ready");
    System.out.println(caller(System.currentTimeMillis() + 12000));
  }
}
"""
PYTHON = """
import sys, time
def planted_leaf(n):
    return n if n < 2 else planted_leaf(n - 1) + planted_leaf(n - 2)
def planted_caller(until):
    while time.time() < until: sum(map(planted_leaf, [15]))
print("ready", flush=True)
planted_caller(time.time() + 12)
"""


def program(name):
    path = shutil.which(name)
    if path is None:
        raise unittest.SkipTest(f"{name} is not installed here")
    return path


class Runtimes(harness.RecordingTest):
    def assert_whole(self, recorded, accept, share=0.97):
        good, total = recorded.count(accept)
        self.assertGreater(total, SECONDS * harness.ENOUGH_PER_SECOND)
        self.assertGreaterEqual(good, share * total, harness.top_stacks(recorded))

    def test_node_reaches_its_root_through_functions_by_name(self):
        script = self.folder / "planted.js"
        script.write_text(JAVASCRIPT)
        command = (program("node"), "--perf-basic-prof", script)
        with harness.running(*command, cwd=self.folder) as process:
            self.addCleanup(pathlib.Path(f"/tmp/perf-{process.pid}.map").unlink, missing_ok=True)
            recorded = self.record_pid(process.pid, SECONDS)
        self.assert_whole(
            recorded,
            lambda s: not s[0].startswith("[truncated")
            and any(name.endswith("planted_leaf") for name in s),
        )

    def test_java_reaches_its_root(self):
        source = self.folder / "Planted.java"
        source.write_text(JAVA)
        subprocess.run([program("javac"), "-d", self.folder, source], check=True, timeout=100)
        with harness.running(program("java"), "-Xint", "-cp", self.folder, "Planted") as process:
            interpreted = self.record_pid(process.pid, SECONDS, name="interpreted")
        with harness.running(program("java"), "-cp", self.folder, "Planted") as process:
            compiled = self.record_pid(process.pid, SECONDS, name="compiled")
        for recorded in (interpreted, compiled):
            self.assert_whole(recorded, lambda s: not s[0].startswith("[truncated"))
            # A guess is what a whole stack may be short of frames by.
            self.assertLessEqual(recorded.event["approximate"], 0.03 * recorded.event["shown"])

    def test_python_with_trampolines_shows_no_function_twice(self):
        pythons = [path for path, version in harness.pythons().items() if version >= (3, 12)]
        if not pythons:
            self.skipTest("no CPython 3.12 or later here")
        script = self.folder / "planted.py"
        script.write_text(PYTHON)
        with harness.running(pythons[0], "-X", "perf", script) as process:
            self.addCleanup(pathlib.Path(f"/tmp/perf-{process.pid}.map").unlink, missing_ok=True)
            recorded = self.record_pid(process.pid, SECONDS)
        names = {frame.name for sample in recorded.cpu.samples for frame in sample.frames}
        self.assertFalse([name for name in names if name.startswith("py::")], names)
        self.assert_whole(
            recorded,
            lambda s: not s[0].startswith("[truncated")
            and s.count("planted_caller") == 1
            and "[jit]" not in s,
        )


if __name__ == "__main__":
    harness.main()
