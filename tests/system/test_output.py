"""T41, T43: hostile names and empty recordings make valid files; formats follow the ending."""

import json
import shutil
import stat
import subprocess
import xml.dom.minidom

import harness
import pprof_reader

HOSTILE_C_NAME = "q\"uote<&>'x"
HOSTILE_PYTHON_NAME = "</script><b>&"
HOSTILE_PYTHON = """
def spin():
    while True:
        pass
print("ready")
code = spin.__code__.replace(co_name="</script><b>&")
if hasattr(code, "co_qualname"):
    code = code.replace(co_qualname="</script><b>&")
type(spin)(code, {})()
"""


class Output(harness.RecordingTest):
    def assert_valid_xml(self, path):
        xml.dom.minidom.parse(str(path))
        if shutil.which("xmllint"):
            done = subprocess.run(["xmllint", "--huge", "--noout", path], capture_output=True)
            self.assertEqual(0, done.returncode, done.stderr)

    def assert_named(self, recorded, name):
        names = {frame.name for s in recorded.cpu.samples for frame in s.frames}
        self.assertIn(name, names)

    def test_hostile_native_names(self):
        with harness.puppet("hostile_names", 30) as process:
            recorded = self.record_pid(process.pid, 2)
        self.assert_named(recorded, HOSTILE_C_NAME)
        names = {frame.name for s in recorded.cpu.samples for frame in s.frames}
        self.assertTrue(any(n.startswith("hostile::operator<<") for n in names), names)
        self.assert_valid_xml(recorded.out / "cpu.svg")
        text = (recorded.out / "cpu.svg").read_text()
        self.assertNotIn("uote<&>", text.replace("&lt;&amp;&gt;", ""))

    def test_hostile_python_names(self):
        with harness.python_script(HOSTILE_PYTHON) as process:
            recorded = self.record_pid(process.pid, 2)
        self.assert_named(recorded, HOSTILE_PYTHON_NAME)
        self.assert_valid_xml(recorded.out / "cpu.svg")
        self.assertNotIn("</script><b>", (recorded.out / "cpu.svg").read_text())

    def test_a_process_that_only_sleeps(self):
        with harness.running("sh", "-c", "echo ready; exec sleep 30") as process:
            harness.wait_for(
                lambda: open(f"/proc/{process.pid}/comm").read() == "sleep\n", what="exec"
            )
            done = harness.run_lumbre(
                "record", "-p", process.pid, "-d", 2, "-o", self.folder / "empty"
            )
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertRegex(done.stderr + done.stdout, r"used no CPU|no CPU time")
        recorded = harness.Recorded(self.folder / "empty", done, 0)
        self.assertEqual([], recorded.cpu.samples)
        self.assertEqual([("samples", "count"), ("cpu", "nanoseconds")], recorded.cpu.sample_types)
        self.assert_valid_xml(recorded.out / "cpu.svg")

    def test_every_single_file_output(self):
        with harness.puppet("spin", 60) as process:
            for ending in ("pb.gz", "svg", "folded", "speedscope.json"):
                with self.subTest(ending):
                    self.check_single_file(process.pid, self.folder / f"one.{ending}")

    def check_single_file(self, pid, out):
        harness.record(out, "-p", pid, "-d", 1)
        self.assertEqual(0o600, stat.S_IMODE(out.stat().st_mode))
        if out.name.endswith(".pb.gz"):
            self.assertGreater(len(pprof_reader.read(out).samples), 0)
        elif out.name.endswith(".svg"):
            self.assert_valid_xml(out)
        elif out.name.endswith(".folded"):
            stacks = harness.read_folded(out.read_text())
            self.assertTrue(any(harness.in_order(s, "main", *"abc") for s in stacks), stacks)
        else:
            speedscope = json.loads(out.read_text())
            self.assertIn("shared", speedscope)

    def test_conversions_agree_with_the_recording(self):
        with harness.puppet("spin", 60) as process:
            recorded = self.record_pid(process.pid, 2)
        for ending in ("pb.gz", "folded", "speedscope.json", "svg"):
            out = self.folder / f"converted.{ending}"
            command = "flamegraph" if ending == "svg" else "convert"
            done = harness.run_lumbre(command, recorded.out, "-o", out)
            self.assertEqual(0, done.returncode, done.stderr)
        converted = pprof_reader.read(self.folder / "converted.pb.gz")
        self.assertEqual(recorded.cpu.total("cpu"), converted.total("cpu"))
        folded = harness.read_folded((self.folder / "converted.folded").read_text())
        self.assertEqual(recorded.cpu.total("cpu"), sum(folded.values()))

    def test_pprof_and_summary_keep_the_contract(self):
        with harness.puppet("spin", 60) as process:
            recorded = self.record_pid(process.pid, 2)
        profile, summary, event = recorded.cpu, recorded.summary, recorded.event
        self.assertEqual("cpu", profile.default_sample_type)
        self.assertGreater(profile.period, 0)
        self.assertGreater(profile.time_nanos, 0)
        self.assertAlmostEqual(2e9, profile.duration_nanos, delta=0.5e9)
        for sample in profile.samples:
            self.assertEqual(process.pid, sample.labels["pid"])
            self.assertEqual(process.pid, sample.labels["tid"])
            self.assertEqual("spin", sample.labels["process"])
            self.assertTrue(all(frame.name for frame in sample.frames))
        files = {file.rsplit("/", 1)[-1]: build_id for file, build_id in profile.mappings}
        self.assertRegex(files["spin"], r"^[0-9a-f]{16,}$")
        self.assertEqual(event["samples"], event["shown"] + sum(event["lost"].values()))
        self.assertEqual(event["shown"], profile.total("samples"))
        self.assertIn(summary["clock"], ("cycles", "cpu-clock"))
        self.assertEqual(99, summary["frequency_hz"])
        self.assertEqual([process.pid], summary["target"]["pids"])
        for key in ("cpu_seconds", "rss_bytes", "share_of_one_cpu"):
            self.assertGreater(summary["cost"][key], 0, key)
        self.assertEqual(0o700, stat.S_IMODE(recorded.out.stat().st_mode))
        for file in recorded.out.iterdir():
            self.assertEqual(0o600, stat.S_IMODE(file.stat().st_mode), file)

    def test_report_names_the_hottest_function(self):
        with harness.puppet("spin", 60) as process:
            recorded = self.record_pid(process.pid, 2)
        text = harness.run_lumbre("report", recorded.out, "--limit", 3)
        self.assertEqual(0, text.returncode, text.stderr)
        self.assertRegex(text.stdout, r"(?m)\bc$|\bc\b")
        done = harness.run_lumbre("report", recorded.out, "--json", "--by", "line")
        self.assertEqual(0, done.returncode, done.stderr)
        json.loads(done.stdout)


if __name__ == "__main__":
    harness.main()
