"""Waiting: the right reason, stack and duration, and accounts that add up."""

import json
import pathlib
import sys
import time

import harness
import pprof_reader

WAITS = harness.PYTHON_PUPPETS / "waits.py"
CONTENTION = harness.PYTHON_PUPPETS / "gil_contention.py"
# Of what a thread waits by its own account; it also runs, and stands in the queue for a CPU.
SHARE = 0.03


def seconds_of(profile, accept):
    """Seconds off CPU of the samples that `accept(frame names, labels)` takes."""
    index = profile.index("offcpu")
    return sum(s.values[index] for s in profile.samples
               if accept([frame.name for frame in s.frames], s.labels)) * 1e-9


def thread_clocks(pid):
    """CPU seconds of each thread, by the scheduler's account."""
    clocks = {}
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        clocks[int(task.name)] = int((task / "schedstat").read_text().split()[0]) * 1e-9
    return clocks


class OffCpu(harness.RecordingTest):
    def record_waits(self, pid, seconds, *options):
        recorded = self.record_pid(pid, seconds, "-e", "offcpu", *options)
        return recorded.summary, pprof_reader.read(recorded.out / "offcpu.pb.gz")

    def test_each_wait_has_its_reason_stack_and_duration(self):
        reasons = {
            "waits_sleep": "sleep", "waits_futex": "futex", "waits_pipe": "pipe",
            "waits_net": "net", "waits_net_timeout": "net", "waits_epoll": "epoll",
            "waits_child": "child", "waits_forever": "futex",
        }
        with harness.running(sys.executable, WAITS, 60) as process:
            time.sleep(0.3)
            summary, profile = self.record_waits(process.pid, 6)
        duration = summary["duration_s"]
        for function, reason in reasons.items():
            def is_mine(names, labels, function=function):
                return function in names and labels["pid"] == process.pid

            whole = seconds_of(profile, is_mine)
            runnable = seconds_of(
                profile, lambda names, labels: is_mine(names, labels) and labels["wait"] == "runnable")
            right = seconds_of(
                profile, lambda names, labels: is_mine(names, labels) and labels["wait"] == reason)
            with self.subTest(function):
                print(f"{function}: {right:.3f} s {reason}, {runnable:.3f} s runnable "
                      f"of {whole:.3f} s in {duration:.3f} s")
                # A thread hands its CPU to no one while it runs, so the rest is its run time.
                self.assertGreater(right + runnable, whole * (1 - SHARE))
                self.assertLess(abs(whole - duration), duration * (SHARE if reason != "child" else 0.1))

    def test_run_time_and_waits_of_each_thread_add_up(self):
        with harness.running(sys.executable, CONTENTION, 60) as process:
            time.sleep(0.3)
            before = thread_clocks(process.pid)
            begin = time.monotonic()
            summary, _ = self.record_waits(process.pid, 4)
            end = time.monotonic()
            after = thread_clocks(process.pid)
        threads = {t["tid"]: t for t in summary["waits"]["threads"] if t["pid"] == process.pid}
        self.assertEqual(set(threads), set(before))
        for tid, thread in threads.items():
            waited = sum(thread["wait_s"].values())
            self.assertAlmostEqual(thread["elapsed_s"], summary["duration_s"], delta=0.1)
            self.assertAlmostEqual(thread["run_s"] + waited, thread["elapsed_s"], delta=0.001)
            # The scheduler's account covers Lumbre's start and end, too.
            outside = (end - begin) - thread["elapsed_s"]
            scheduled = after[tid] - before[tid]
            stolen = summary["stolen_cpu_s"]
            self.assertLess(thread["run_s"], scheduled * 1.01 + 0.01 + stolen)
            self.assertGreater(thread["run_s"], scheduled * 0.99 - outside - 0.01 - stolen)

    def test_the_interpreter_lock_is_told_from_other_locks(self):
        with harness.running(sys.executable, CONTENTION, 60) as process:
            time.sleep(0.3)
            _, profile = self.record_waits(process.pid, 4)
        gil = seconds_of(profile, lambda names, labels: "spins" in names and labels["wait"] == "gil")
        lock = seconds_of(
            profile, lambda names, labels: "wants_lock" in names and labels["wait"] == "futex")
        other = seconds_of(
            profile, lambda names, labels: "spins" in names and labels["wait"] == "futex")
        print(f"gil {gil:.3f} s, lock {lock:.3f} s")
        self.assertGreater(gil, 1)
        self.assertGreater(lock, 0.5)
        self.assertLess(other, 0.02 * gil)

    def test_waits_open_at_both_ends_are_clipped_to_the_recording(self):
        with harness.running("sh", "-c", "echo ready; exec sleep 60") as process:
            time.sleep(0.3)
            summary, profile = self.record_waits(process.pid, 2)
        self.assertAlmostEqual(profile.total("offcpu") * 1e-9, summary["duration_s"], delta=0.05)
        self.assertEqual(1, summary["waits"]["open_at_begin"])
        self.assertEqual(1, summary["waits"]["open_at_end"])
        names = {frame.name for sample in profile.samples for frame in sample.frames}
        self.assertTrue(names & {"clock_nanosleep", "nanosleep", "__nanosleep"}, names)

    def test_a_wait_that_began_in_the_recording_and_outlives_it_is_shown(self):
        with harness.running("sh", "-c", "echo ready; while read -r x; do :; done; exec sleep 60",
                             stdin=-1) as process:
            recorder = harness.start_lumbre("record", "-q", "-a", "-e", "offcpu", "-d", 3, "-o",
                                            self.folder / "all")
            time.sleep(1.5)
            process.stdin.close()
            closed = time.time()
            recorder.communicate()
        profile = pprof_reader.read(self.folder / "all" / "offcpu.pb.gz")
        slept = seconds_of(profile, lambda names, labels: labels["pid"] == process.pid and
                           labels["wait"] == "sleep")
        end = (profile.time_nanos + profile.duration_nanos) * 1e-9
        start = profile.time_nanos * 1e-9
        self.assertAlmostEqual(slept, end - max(closed, start), delta=0.5)
        self.assertGreater(slept, 0)

    def test_wakers_lead_to_who_ended_the_wait(self):
        with harness.running(sys.executable, WAITS, 60) as process:
            time.sleep(0.3)
            _, profile = self.record_waits(process.pid, 3, "--wakers")
        whole = seconds_of(profile, lambda names, labels: "waits_pipe" in names)
        woken = seconds_of(profile, lambda names, labels: harness.in_order(
            names, "waits_pipe", "[woken by " + labels.get("woken_by", "") + "]", "feed"))
        print(f"woken by its feeder: {woken:.3f} s of {whole:.3f} s")
        self.assertGreater(woken, 0.8 * whole)
        timers = [s for s in profile.samples if s.labels["wait"] == "sleep" and "woken_by" in s.labels]
        self.assertTrue(timers)
        for sample in timers:
            self.assertIn("[woken by an interrupt]", [frame.name for frame in sample.frames])

    def test_stacks_shows_what_every_thread_does_now(self):
        with harness.running(sys.executable, WAITS, 60) as first, harness.running(
            sys.executable, WAITS, 60
        ) as second:
            time.sleep(0.3)
            shown = harness.run_lumbre("stacks", "-p", f"{first.pid},{second.pid}", "--json")
        self.assertEqual(0, shown.returncode, shown.stderr)
        groups = json.loads(shown.stdout)
        forever = [g for g in groups if any(f.startswith("waits_forever ") for f in g["frames"])]
        self.assertEqual(1, len(forever), "equal stacks are in one group")
        self.assertEqual("waiting: futex", forever[0]["state"])
        self.assertEqual({first.pid, second.pid}, {t["pid"] for t in forever[0]["threads"]})
        shown = {t["tid"] for g in groups for t in g["threads"] if t["pid"] == first.pid}
        self.assertGreaterEqual(len(shown), 14)

    def test_nothing_of_it_is_left_when_not_asked_for(self):
        with harness.puppet("spin", 20) as process:
            recorded = self.record_pid(process.pid, 1)
        self.assertNotIn("waits", recorded.summary)
        self.assertFalse((recorded.out / "offcpu.pb.gz").exists())


if __name__ == "__main__":
    harness.main()
