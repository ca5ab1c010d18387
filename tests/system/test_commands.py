"""Bad input gets the contract's exit status and one line; no earlier file is ever harmed."""

import os
import pathlib
import shutil
import signal
import subprocess

import harness


def unused_pid():
    with open("/proc/sys/kernel/pid_max") as file:
        return int(file.read()) - 1


class BadInput(harness.RecordingTest):
    def assert_error(self, done, status, pattern):
        self.assertEqual(status, done.returncode, done.stderr)
        self.assert_one_line(done.stderr)
        self.assertRegex(done.stderr, pattern)

    def test_no_such_process(self):
        out = self.folder / "out"
        done = harness.run_lumbre("record", "-p", unused_pid(), "-d", 1, "-o", out)
        self.assert_error(done, 4, str(unused_pid()))
        self.assertFalse(out.exists())

    def test_wrong_usage(self):
        wrong = [
            ["record", "-p", "x"],
            ["record", "-p", "1", "-e", "nosuchevent"],
            ["record", "-p", "1", "-o", str(self.folder / "out.xyz")],
            ["record", "-p", "1", "-a"],
            ["record", "-p", "1", "-F", "0"],
            ["record", "-p", "1", "-d", "-3"],
            ["record", "--nosuchoption"],
            ["record"],
            ["nosuchcommand"],
        ]
        for arguments in wrong:
            with self.subTest(arguments):
                done = harness.run_lumbre(*arguments, timeout=20)
                self.assert_error(done, 2, ".")

    def test_an_existing_output_is_not_overwritten(self):
        folder, single = self.folder / "there", self.folder / "there.pb.gz"
        folder.mkdir()
        (folder / "precious").write_text("keep")
        single.write_text("keep")
        for out in (folder, single):
            with self.subTest(out.name):
                done = harness.run_lumbre("record", "-p", os.getpid(), "-d", 1, "-o", out)
                self.assert_error(done, 1, "--force")
        self.assertEqual("keep", (folder / "precious").read_text())
        self.assertEqual("keep", single.read_text())

    def test_force_replaces_it(self):
        single = self.folder / "there.folded"
        single.write_text("old")
        with harness.puppet("spin", 20) as process:
            harness.record(single, "-p", process.pid, "-d", 1, "--force")
        self.assertNotEqual("old", single.read_text())

    def test_an_output_is_never_written_through_a_link(self):
        real, link = self.folder / "real.folded", self.folder / "link.folded"
        real.write_text("keep")
        link.symlink_to(real)
        with harness.puppet("spin", 20) as process:
            harness.run_lumbre("record", "-p", process.pid, "-d", 1, "-o", link, "--force")
        self.assertEqual("keep", real.read_text())

    def test_garbage_where_a_profile_is_wanted(self):
        garbage = self.folder / "garbage.pb.gz"
        garbage.write_bytes(bytes(range(256)) * 20)
        commands = [
            ["report", garbage],
            ["flamegraph", garbage, "-o", self.folder / "x.svg"],
            ["convert", garbage, "-o", self.folder / "x.folded"],
            ["report", self.folder / "missing.pb.gz"],
        ]
        for arguments in commands:
            with self.subTest(arguments[0]):
                self.assert_error(harness.run_lumbre(*arguments), 1, ".")
        self.assertEqual(["garbage.pb.gz"], sorted(p.name for p in self.folder.iterdir()))

    def test_not_root(self):
        command = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
        binary = self.folder / "lumbre"
        shutil.copy(harness.LUMBRE, binary)
        self.folder.chmod(0o755)
        done = subprocess.run(
            command + [binary, "record", "-a", "-d", "1", "-o", "/tmp/lumbre-nobody"],
            capture_output=True, text=True, timeout=30,
        )
        self.assert_error(done, 3, r"CAP_|root|sudo")
        self.assertFalse(os.path.exists("/tmp/lumbre-nobody"))

    def test_a_program_whose_file_is_garbage_now(self):
        program = self.folder / "program"
        shutil.copy(harness.puppet_path("spin"), program)
        with harness.running(program, "30") as process:
            size = program.stat().st_size
            program.unlink()
            program.write_bytes(b"\x7fELF" + bytes(range(256)) * (size // 256))
            recorded = self.record_pid(process.pid, 1)
        self.assertGreater(recorded.cpu.total("samples"), 0)

    def test_a_full_disk_leaves_nothing_under_the_final_name(self):
        place = self.folder / "tiny"
        place.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", "size=4k", "none", place]
        if subprocess.run(mount, capture_output=True).returncode != 0:
            self.skipTest("no tmpfs can be mounted here")
        self.addCleanup(subprocess.run, ["umount", place], capture_output=True)
        for name in ("full", "full.pb.gz"):
            (place / "filler").write_bytes(b"x" * 4096)
            with self.subTest(name), harness.puppet("spin", 20) as process:
                done = harness.run_lumbre(
                    "record", "-q", "-p", process.pid, "-d", 1, "-o", place / name
                )
                self.assert_error(done, 1, "[Nn]o space")
                self.assertEqual(["filler"], sorted(p.name for p in place.iterdir()))

    def test_a_target_that_ends_early_ends_the_recording(self):
        with harness.puppet("spin", 2) as process:
            recorded = self.record_pid(process.pid, 30)
        self.assertLess(recorded.wall_seconds, 10)
        self.assertGreater(recorded.cpu.total("samples"), harness.ENOUGH_PER_SECOND)


class Stopping(harness.RecordingTest):  # T45
    def test_duration_is_kept(self):
        for name, arguments in (("spin", ()), ("threads", (100, 0))):
            with self.subTest(name), harness.puppet(name, 30, *arguments) as process:
                recorded = self.record_pid(process.pid, 5, name=name)
                self.assertGreaterEqual(recorded.wall_seconds, 5)
                self.assertLess(recorded.wall_seconds, 6.5)

    def check_signal(self, number):
        out = self.folder / "out.pb.gz"
        out.write_text("earlier")
        with harness.puppet("spin", 40) as process:
            recorder = harness.start_lumbre(
                "record", "-p", process.pid, "-d", 30, "-o", out, "--force"
            )
            start = harness.scheduled_seconds(process.pid)
            harness.wait_for(
                lambda: harness.scheduled_seconds(process.pid) > start + 2, what="2 s of CPU"
            )
            self.assertEqual("earlier", out.read_text(), "kept until the new one is whole")
            recorder.send_signal(number)
            _, errors = recorder.communicate(timeout=20)
        self.assertEqual(0, recorder.returncode, errors)
        recorded = harness.Recorded(pathlib.Path(out), subprocess.CompletedProcess([], 0), 0)
        self.assertAlmostEqual(2.0, recorded.cpu.total("cpu") * 1e-9, delta=0.8)

    def test_sigint_writes_what_was_recorded(self):
        self.check_signal(signal.SIGINT)

    def test_sigterm_writes_what_was_recorded(self):
        self.check_signal(signal.SIGTERM)

    def test_files_belong_to_the_user_behind_sudo(self):
        if not shutil.which("sudo"):
            self.skipTest("sudo is not installed")
        self.folder.chmod(0o777)
        out = self.folder / "owned"
        environment = dict(os.environ, SUDO_UID="65534", SUDO_GID="65534", SUDO_USER="nobody")
        with harness.puppet("spin", 20) as process:
            done = harness.run_lumbre(
                "record", "-p", process.pid, "-d", 1, "-o", out, env=environment
            )
        self.assertEqual(0, done.returncode, done.stderr)
        for path in [out, *out.iterdir()]:
            self.assertEqual(65534, path.stat().st_uid, path)


class Launching(harness.RecordingTest):
    def status_of(self, *command):
        done = harness.run_lumbre("record", "-q", "-o", self.folder / "out", "--", *command)
        shutil.rmtree(self.folder / "out", ignore_errors=True)
        return done.returncode

    def test_exit_status_is_the_commands(self):
        self.assertEqual(0, self.status_of("true"))
        self.assertEqual(7, self.status_of("sh", "-c", "exit 7"))
        self.assertEqual(128 + 9, self.status_of("sh", "-c", "kill -9 $$"))
        self.assertEqual(126, self.status_of("/etc/passwd"))
        self.assertEqual(127, self.status_of("/no/such/command"))

    def test_the_command_is_recorded_from_its_start(self):
        done = harness.run_lumbre(
            "record", "-o", self.folder / "out", "--", harness.puppet_path("spin"), 2
        )
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertIn("ready", done.stdout)
        recorded = harness.Recorded(self.folder / "out", done, 0)
        whole, total = recorded.count(lambda s: harness.in_order(s, "_start", "main", *"abc"))
        self.assertGreater(total, 2 * harness.ENOUGH_PER_SECOND)
        self.assertGreaterEqual(whole, 0.97 * total, harness.top_stacks(recorded))


class Doctor(harness.RecordingTest):
    def test_it_says_what_this_machine_allows(self):
        done = harness.run_lumbre("doctor")
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertRegex(done.stdout, "BTF")

    def test_help_and_version(self):
        self.assertRegex(harness.run_lumbre("--version").stdout, r"\d+\.\d+\.\d+")
        for command in ("record", "flamegraph", "report", "convert", "stacks", "doctor"):
            done = harness.run_lumbre(command, "--help")
            self.assertEqual(0, done.returncode)
            self.assertIn(command, done.stdout)


if __name__ == "__main__":
    harness.main()
