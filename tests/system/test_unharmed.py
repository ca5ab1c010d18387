"""T47: the target runs on as before, whatever happens to the profiler."""

import os
import signal
import subprocess
import threading
import time

import harness

LARGEST_SLOWDOWN = 0.03


class Watch:
    """Reads the counter that spin prints once a second, and the target's state meanwhile."""

    def __init__(self, process):
        self.process, self.rates, self.states, last = process, [], set(), None
        self.stopping = False
        self.reader = threading.Thread(target=self.read)
        self.poller = threading.Thread(target=self.poll)
        self.reader.start()
        self.poller.start()

    def read(self):
        last = None
        for line in self.process.stdout:
            now = int(line)
            if last is not None:
                self.rates.append(now - last)
            last = now

    def poll(self):
        while not self.stopping:
            with open(f"/proc/{self.process.pid}/stat") as file:
                self.states.add(file.read().rpartition(")")[2].split()[0])
            time.sleep(0.002)

    def rate_of_next(self, seconds):
        start = len(self.rates)
        harness.wait_for(lambda: len(self.rates) >= start + seconds + 1, seconds + 10, "counting")
        return sorted(self.rates[start + 1 : start + seconds + 1])[seconds // 2]


def probes_and_programs():
    done = subprocess.run(
        ["/usr/sbin/bpftool", "prog", "show"], capture_output=True, text=True
    ) if os.path.exists("/usr/sbin/bpftool") else None
    programs = done.stdout.count("lumbre") if done and done.returncode == 0 else 0
    events = ""
    for path in ("/sys/kernel/tracing/uprobe_events", "/sys/kernel/tracing/kprobe_events"):
        if os.path.exists(path):
            events += open(path).read()
    return programs, events


class Unharmed(harness.RecordingTest):
    def kill_in_the_middle(self, pid):
        recorder = harness.start_lumbre("record", "-p", pid, "-d", 5, "-o", self.folder / "killed")
        time.sleep(0.7)  # somewhere in the recording: any moment is a fair one
        recorder.send_signal(signal.SIGKILL)
        recorder.communicate()
        subprocess.run(["rm", "-rf", self.folder / "killed"], check=True)

    def test_speed_state_and_leftovers(self):
        before_all = probes_and_programs()
        with harness.puppet("spin", 100, "--count") as process:
            watch = Watch(process)
            before = watch.rate_of_next(5)
            maps = self.mapped_files(process.pid)
            for i in range(8):
                self.record_pid(process.pid, 1, name=f"recording-{i}")
            for _ in range(5):
                self.kill_in_the_middle(process.pid)
            after = watch.rate_of_next(5)
            watch.stopping = True
            watch.poller.join()
            self.assertEqual(maps, self.mapped_files(process.pid), "nothing was mapped into it")
        watch.reader.join()
        print(f"counter per second: {before} before, {after} after")
        self.assertNotIn("T", watch.states)
        self.assertNotIn("t", watch.states)
        self.assertLess(abs(after - before) / before, LARGEST_SLOWDOWN)
        harness.wait_for(
            lambda: probes_and_programs() == before_all, what="no program of ours is left"
        )

    @staticmethod
    def mapped_files(pid):
        with open(f"/proc/{pid}/maps") as file:
            return sorted({line.split(None, 5)[-1].strip() for line in file if "/" in line})


if __name__ == "__main__":
    harness.main()
