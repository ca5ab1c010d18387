"""What is shown adds up to what the kernel's scheduler says, and losses are counted."""

import json
import math
import os
import threading
import time

import harness
import pprof_reader

FREQUENCY = 499


class ScheduledTime:
    """Follows a process's CPU time, to read it for any window afterwards."""

    def __init__(self, read):
        self.read, self.points, self.stopping = read, [], False
        self.thread = threading.Thread(target=self.follow)
        self.thread.start()

    def follow(self):
        while not self.stopping:
            self.points.append((time.time(), self.read()))
            time.sleep(0.02)

    def stop(self):
        self.stopping = True
        self.thread.join()
        self.points.append((time.time(), self.read()))

    def at(self, moment):
        for (t0, c0), (t1, c1) in zip(self.points, self.points[1:]):
            if t0 <= moment <= t1:
                return c0 + (c1 - c0) * (moment - t0) / (t1 - t0)
        raise AssertionError("the moment lies outside of what was followed")

    def during(self, profile):
        start = profile.time_nanos * 1e-9
        return self.at(start + profile.duration_nanos * 1e-9) - self.at(start)


class Totals(harness.RecordingTest):
    def check(self, shown, truth, samples, stolen, share=0.01):
        """Within 1% plus the sampling error (95%, as if the samples were independent), plus what
        the hypervisor took: the scheduler's accounts leave it out, a timer can not."""
        allowed = truth * (share + 1.96 / math.sqrt(max(samples, 1))) + stolen
        print(f"{shown:.4f} s shown, {truth:.4f} s scheduled, {allowed:.4f} s allowed")
        self.assertLessEqual(abs(shown - truth), allowed)

    def test_attached_process_with_threads(self):
        with harness.puppet("threads", 40, 3, 2) as process:
            follower = ScheduledTime(lambda: harness.scheduled_seconds(process.pid))
            try:
                recorded = self.record_pid(process.pid, 8, "-F", FREQUENCY)
            finally:
                follower.stop()
        truth = follower.during(recorded.cpu)
        self.check(
            recorded.cpu.total("cpu") * 1e-9,
            truth,
            recorded.cpu.total("samples"),
            recorded.summary["stolen_cpu_s"],
        )

    def test_launched_command_from_start_to_end(self):
        out = self.folder / "out"
        done = harness.run_lumbre(
            "record", "-F", FREQUENCY, "-o", out, "--", harness.puppet_path("split"), 6, 1
        )
        self.assertEqual(0, done.returncode, done.stderr)
        measured = json.loads(done.stdout.splitlines()[1])
        profile = pprof_reader.read(out / "cpu.pb.gz")
        stolen = json.loads((out / "summary.json").read_text())["stolen_cpu_s"]
        shown, count = profile.total("cpu") * 1e-9, profile.total("samples")
        self.check(shown, sum(measured.values()), count, stolen)

    def test_short_lived_children_are_counted_and_named(self):
        with harness.puppet("fork_storm", 5, 40, 8) as process:
            recorded = self.record_pid(process.pid, 20, "-F", FREQUENCY)  # it ends before
            children = json.loads(process.stdout.readline())["children_cpu_s"]
        samples = [
            s for s in recorded.cpu.samples if s.labels["pid"] != process.pid
        ]
        seconds = sum(s.values[1] for s in samples) * 1e-9
        count = sum(s.values[0] for s in samples)
        named = sum(
            s.values[0]
            for s in samples
            if harness.in_order([f.name for f in s.frames], "_start", "main", "short_life")
        )
        # The storm had begun before the recording: a part of the first second is missing.
        self.assertGreater(seconds, 0.75 * children)
        self.assertLess(seconds, 1.1 * children + recorded.summary["stolen_cpu_s"])
        in_life = sum(
            s.values[0] for s in samples if any(f.name == "short_life" for f in s.frames)
        )
        self.assertGreaterEqual(named, 0.99 * in_life)
        self.assertGreaterEqual(in_life, 0.7 * count, harness.top_stacks(recorded))

    def test_whole_machine_while_programs_start_and_stop(self):
        seconds = 30 if harness.IS_FULL else 12
        busy = ScheduledTime(
            lambda: time.monotonic() * os.cpu_count() - harness.idle_seconds()
        )
        try:
            with harness.puppet("fork_storm", seconds + 6, 30, 10):
                with harness.puppet("busy_syscalls", seconds / 2):
                    recorded = harness.record(
                        self.folder / "all", "-a", "-d", seconds, "-F", FREQUENCY
                    )
        finally:
            time.sleep(0.1)
            busy.stop()
        truth = busy.during(recorded.cpu)
        event = recorded.event
        counted = event["shown"] + sum(event["lost"].values())
        self.assertEqual(event["samples"], counted)
        self.check(counted / FREQUENCY, truth, counted, recorded.summary["stolen_cpu_s"])
        spins, total = recorded.count(lambda s: "short_life" in s)
        self.assertGreater(spins, 0.1 * total, harness.top_stacks(recorded))

    def test_losses_of_a_tiny_ring_buffer_are_counted(self):
        with harness.puppet("split", 30, 1) as process:
            follower = ScheduledTime(lambda: harness.scheduled_seconds(process.pid))
            try:
                recorded = self.record_pid(process.pid, 4, "-F", 999, "--ring-bytes", 4096)
            finally:
                follower.stop()
        event = recorded.event
        lost = sum(event["lost"].values())
        print(f"{event['shown']} shown, lost {event['lost']}")
        self.assertGreater(lost, 0)
        self.assertEqual(event["samples"], event["shown"] + lost)
        self.assertEqual(event["shown"], recorded.cpu.total("samples"))
        truth = follower.during(recorded.cpu)
        self.check(
            event["samples"] / 999, truth, event["samples"], recorded.summary["stolen_cpu_s"]
        )
        self.assertTrue(any("lost" in c for c in recorded.cpu.comments), recorded.cpu.comments)


if __name__ == "__main__":
    harness.main()
