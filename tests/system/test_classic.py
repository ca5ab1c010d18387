"""The kernel programs for older kernels, forced here: the same stacks, and it is said that they run.

`./dev test-kernels` runs them where they belong.
"""

import os
import unittest.mock

import harness

SECONDS = 3


class UsualPrograms(harness.RecordingTest):
    def test_are_those_that_run_unless_the_kernel_refuses_them(self):
        with harness.puppet("deep", 10, 10) as process:
            recorded = self.record_pid(process.pid, 1)
        if "this kernel lacks" in recorded.stderr:
            self.skipTest(recorded.stderr)
        self.assertEqual(recorded.summary["kernel_programs"], "usual")


class ClassicPrograms(harness.RecordingTest):
    def setUp(self):
        super().setUp()
        forced = unittest.mock.patch.dict(os.environ, LUMBRE_KERNEL_PROGRAMS="classic")
        forced.start()
        self.addCleanup(forced.stop)

    def recorded(self, name, *arguments):
        with harness.puppet(name, SECONDS + 10, *arguments) as process:
            recorded = self.record_pid(process.pid, SECONDS, "-F", "499", "--self-check", "1")
        self.assertEqual(recorded.summary["kernel_programs"], "classic")
        self.assertEqual(recorded.event["lost"], {})
        return recorded

    def assert_walked_whole(self, recorded):
        """In the kernel, to the root, as the walk outside of it finds."""
        walk = recorded.summary["kernel_walk"]
        self.assertGreater(walk["checked"], recorded.event["shown"] / 2, walk["ends"])
        self.assertEqual(walk["mismatched"], 0, walk.get("first_mismatch"))
        self.assertEqual(recorded.event["truncated"], {})

    def test_walk_stacks_of_400_frames_to_the_root(self):
        recorded = self.recorded("deep", 400)
        self.assert_walked_whole(recorded)
        whole, total = recorded.count(lambda s: s.count("rec") == 401 and s[0] == "_start")
        self.assertGreater(total, harness.ENOUGH_SAMPLES)
        self.assertGreaterEqual(whole, 0.99 * total, harness.top_stacks(recorded))

    def test_find_the_callers_of_system_calls(self):
        recorded = self.recorded("busy_syscalls")
        self.assert_walked_whole(recorded)
        in_kernel = [s for s in recorded.cpu.samples if harness.without_kernel(s.frames) != s.frames]
        total = sum(s.values[0] for s in in_kernel)
        called = sum(s.values[0] for s in in_kernel if s.frames[0].name in ("_start", "clone3"))
        self.assertGreater(total, harness.ENOUGH_SAMPLES)
        self.assertGreaterEqual(called, 0.99 * total, harness.top_stacks(recorded))

    def test_refuse_other_events_by_name(self):
        with harness.puppet("deep", 10, 10) as process:
            refused = harness.run_lumbre("record", "-p", process.pid, "-d", 1, "-e", "offcpu",
                                         "-o", self.folder / "out")
        self.assertEqual(refused.returncode, 3, refused.stderr)
        self.assertIn("only the event cpu", refused.stderr)

    def test_doctor_says_which_programs_load(self):
        doctor = harness.run_lumbre("doctor")
        self.assertIn("those for older kernels", doctor.stdout)


if __name__ == "__main__":
    harness.main()
