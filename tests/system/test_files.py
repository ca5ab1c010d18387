"""Files that are not where their path says: replaced, in a namespace, one of hundreds."""

import os
import shutil
import subprocess

import harness

SECONDS = 3


class Files(harness.RecordingTest):
    def assert_spin(self, recorded, **labels):
        whole, total = recorded.count(
            lambda s: harness.in_order(s, "_start", "main", *"abc"), **labels
        )
        self.assertGreater(total, SECONDS * harness.ENOUGH_PER_SECOND)
        self.assertGreaterEqual(whole, 0.99 * total, harness.top_stacks(recorded))

    def test_a_program_that_was_replaced_keeps_its_names(self):  # T21
        program = self.folder / "program"
        shutil.copy(harness.puppet_path("spin"), program)
        with harness.running(program, "30") as process:
            shutil.copy(harness.puppet_path("spin_other"), self.folder / "new")
            os.rename(self.folder / "new", program)
            recorded = self.record_pid(process.pid, SECONDS)
        self.assert_spin(recorded)
        names = {name for stack in recorded.stacks() for name in stack}
        self.assertFalse(names & {"new_a", "new_b", "new_c"})

    def test_a_program_that_was_deleted_keeps_its_names(self):
        program = self.folder / "program"
        shutil.copy(harness.puppet_path("spin"), program)
        with harness.running(program, "30") as process:
            program.unlink()
            recorded = self.record_pid(process.pid, SECONDS)
        self.assert_spin(recorded)

    def test_the_last_of_600_libraries_is_named(self):  # T25 (b)
        libraries = self.folder / "libraries"
        libraries.mkdir()
        for i in range(600):
            shutil.copy(harness.PUPPETS / "libspin.so", libraries / f"libspin.so.{i}")
        with harness.puppet("dlopen_many", libraries, 600, 30) as process:
            recorded = self.record_pid(process.pid, SECONDS)
        self.assertLess(recorded.wall_seconds, SECONDS + 2 + 1.5, "attach and finish in time")
        whole, total = recorded.count(
            lambda s: harness.in_order(s, "_start", "main", "call_library", "library_spin")
        )
        self.assertGreaterEqual(whole, 0.99 * total, harness.top_stacks(recorded))
        leaf_modules = {s.frames[-1].module for s in recorded.cpu.samples}
        self.assertTrue(any(m.endswith("libspin.so.599") for m in leaf_modules), leaf_modules)
        print("rss_bytes", recorded.summary["cost"].get("rss_bytes"))

    def test_twenty_thousand_mappings_do_not_hide_the_stack(self):  # T25 (a)
        with harness.puppet("many_maps", 30, 20000) as process:
            recorded = self.record_pid(process.pid, SECONDS)
        whole, total = recorded.count(lambda s: harness.in_order(s, "_start", "main", "spin_here"))
        self.assertGreater(total, SECONDS * harness.ENOUGH_PER_SECOND)
        self.assertGreaterEqual(whole, 0.99 * total, harness.top_stacks(recorded))


class Namespaces(harness.RecordingTest):  # T29
    def setUp(self):
        super().setUp()
        place = self.folder / "private"
        place.mkdir()
        script = (
            f"mount -t tmpfs none {place} && cp {harness.puppet_path('spin')} {place}/spin && "
            f"exec {place}/spin 40"
        )
        command = ["unshare", "-pfm", "--mount-proc", "sh", "-c", script]
        probe = subprocess.run(["unshare", "-pfm", "--mount-proc", "true"], capture_output=True)
        if probe.returncode != 0:
            self.skipTest(f"unshare does not work here: {probe.stderr}")
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.addCleanup(harness.end, self.process)
        self.assertEqual("ready\n", self.process.stdout.readline())
        self.pid = harness.children_of(self.process.pid)[0]

    def check(self, recorded):
        stacks = recorded.stacks(pid=self.pid)
        whole = sum(n for s, n in stacks.items() if harness.in_order(s, "_start", "main", *"abc"))
        total = sum(stacks.values())
        self.assertGreater(total, SECONDS * harness.ENOUGH_PER_SECOND, "labelled with the PID seen from here")
        self.assertGreaterEqual(whole, 0.99 * total, harness.top_stacks(recorded))

    def test_by_pid(self):
        self.check(self.record_pid(self.pid, SECONDS))

    def test_whole_machine(self):
        self.check(harness.record(self.folder / "all", "-a", "-d", SECONDS))


if __name__ == "__main__":
    harness.main()
