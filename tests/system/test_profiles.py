"""What can be made of recordings and of other tools' profiles."""

import json
import re
import signal
import time
import xml.dom.minidom

import harness
import pprof_reader

FOLDED = "main;work;fast 70\nmain;work;slow 20\nmain;idle 10\n"
CHANGED = "main;work;fast 70\nmain;work;slow 60\nmain;idle 10\n"


class Foreign(harness.RecordingTest):
    """Needs no recording, but the same program."""

    def setUp(self):
        super().setUp()
        self.base, self.changed = self.folder / "base.folded", self.folder / "new.folded"
        self.base.write_text(FOLDED)
        self.changed.write_text(CHANGED)

    def run_ok(self, *arguments):
        done = harness.run_lumbre(*arguments)
        self.assertEqual(0, done.returncode, done.stderr)
        return done

    def draw(self, *arguments):
        out = self.folder / "out.svg"
        self.run_ok("flamegraph", *arguments, "-o", out)
        text = out.read_text()
        out.unlink()
        xml.dom.minidom.parseString(text)
        return text

    def test_flame_graph_of_folded_stacks(self):
        text = self.draw(self.base, "--title", "A <title> & more")
        self.assertIn("slow", text)
        self.assertIn("A &lt;title&gt; &amp; more", text)

    def test_difference_between_two(self):
        plain, difference = self.draw(self.changed), self.draw(self.changed, "--base", self.base)
        self.assertNotEqual(plain, difference)

    def test_inverted_is_another_picture(self):
        self.assertNotEqual(self.draw(self.base), self.draw(self.base, "--inverted"))

    def test_several_inputs_are_added_up(self):
        self.draw(self.base, self.changed)

    def test_report_adds_up(self):
        rows = json.loads(self.run_ok("report", self.base, "--json").stdout)["rows"]
        own = {row["name"]: (row["self"], row["total"]) for row in rows}
        self.assertEqual((70, 70), own["fast"])
        self.assertEqual((0, 90), own["work"])
        self.assertEqual((0, 100), own["main"])

    def test_every_ranking(self):
        for kind in ("function", "line", "file", "module", "thread", "process"):
            with self.subTest(kind):
                self.run_ok("report", self.base, "--by", kind)

    def test_folded_through_pprof_and_back(self):
        self.run_ok("convert", self.base, "-o", self.folder / "a.pb.gz")
        self.run_ok("convert", self.folder / "a.pb.gz", "-o", self.folder / "b.folded")
        back = harness.read_folded((self.folder / "b.folded").read_text())
        self.assertEqual(harness.read_folded(FOLDED), back)


class Recordings(harness.RecordingTest):
    def test_stdout_is_pprof(self):
        with harness.puppet("spin", 20) as process:
            recorder = harness.start_lumbre(
                "record", "-q", "-p", process.pid, "-d", 1, "-o", "-", text=False
            )
            data, errors = recorder.communicate(timeout=20)
        self.assertEqual(0, recorder.returncode, errors)
        self.assertGreater(pprof_reader.parse(data).total("samples"), 0)

    def test_a_second_sigint_gives_up(self):
        with harness.puppet("spin", 30) as process:
            recorder = harness.start_lumbre(
                "record", "-p", process.pid, "-d", 30, "-o", self.folder / "out.folded"
            )
            start = harness.scheduled_seconds(process.pid)
            harness.wait_for(lambda: harness.scheduled_seconds(process.pid) > start + 1)
            while recorder.poll() is None:
                recorder.send_signal(signal.SIGINT)
            recorder.communicate()
        self.assertIn(recorder.returncode, (0, 130, -signal.SIGINT))
        self.assertLessEqual({p.name for p in self.folder.iterdir()}, {"out.folded"})

    def test_what_was_recorded_ten_seconds_before_a_kill_is_readable(self):
        out = self.folder / "killed"
        with harness.puppet("spin", 60) as process:
            recorder = harness.start_lumbre("record", "-p", process.pid, "-o", out)
            time.sleep(12)  # the contract's ten seconds, and the start
            recorder.send_signal(signal.SIGKILL)
            recorder.communicate()
        report = harness.run_lumbre("report", out)
        self.assertEqual(0, report.returncode, report.stderr)
        self.assertTrue(re.search(r"\bc\b", report.stdout), report.stdout)

    def test_a_program_that_starts_another_is_followed_through_exec(self):
        script = f"echo ready; sleep 1; exec {harness.puppet_path('spin')} 30"
        with harness.running("sh", "-c", script) as process:
            recorded = self.record_pid(process.pid, 4)
        whole, total = recorded.count(lambda s: harness.in_order(s, "_start", "main", *"abc"))
        self.assertGreater(whole, 1.5 * harness.ENOUGH_PER_SECOND)
        self.assertGreaterEqual(whole, 0.9 * total, harness.top_stacks(recorded))
        names = {s.labels["process"] for s in recorded.cpu.samples if s.values[0]}
        self.assertIn("spin", names)


if __name__ == "__main__":
    harness.main()
