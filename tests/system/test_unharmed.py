"""T47: the target runs on as before, whatever happens to the profiler."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import threading
import time

import harness

TRACING = pathlib.Path("/sys/kernel/tracing")


class Watch:
    """Reads what spin prints once a second, and the target's state meanwhile. A rate is the
    counter's steps per CPU second, which other programs on the machine do not change."""

    def __init__(self, process):
        self.process, self.rates, self.states = process, [], set()
        self.stopping = False
        self.reader = threading.Thread(target=self.read)
        self.poller = threading.Thread(target=self.poll)
        self.reader.start()
        self.poller.start()

    def read(self):
        last = None
        for line in self.process.stdout:
            now = [float(word) for word in line.split()]
            if last is not None:
                self.rates.append((now[0] - last[0]) / (now[1] - last[1]))
            last = now

    def poll(self):
        while not self.stopping:
            with open(f"/proc/{self.process.pid}/stat") as file:
                self.states.add(file.read().rpartition(")")[2].split()[0])
            time.sleep(0.002)

    def rate_of_next(self, seconds):
        """The best second: neighbours on the same core only ever slow a program down."""
        start = len(self.rates)
        harness.wait_for(lambda: len(self.rates) >= start + seconds + 1, seconds + 20, "counting")
        return max(self.rates[start + 1 : start + seconds + 1])


def left_over():
    """Kernel programs of ours that no living process owns, and probes in the tracing tables."""
    programs = []
    bpftool = shutil.which("bpftool", path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    if bpftool:
        done = subprocess.run([bpftool, "-j", "prog", "show"], capture_output=True, text=True)
        if done.returncode == 0:
            programs = [p["id"] for p in json.loads(done.stdout)
                        if p.get("name", "").startswith("lumbre") and not p.get("pids")]
    probes = [path for path in map(TRACING.joinpath, ("uprobe_events", "kprobe_events"))
              if path.exists() and "lumbre" in path.read_text()]
    return programs + probes


class Unharmed(harness.RecordingTest):
    def kill_in_the_middle(self, pid):
        recorder = harness.start_lumbre("record", "-p", pid, "-d", 5, "-o", self.folder / "killed")
        time.sleep(0.7)  # somewhere in the recording: any moment is a fair one
        recorder.send_signal(signal.SIGKILL)
        recorder.communicate()
        subprocess.run(["rm", "-rf", self.folder / "killed"], check=True)

    def test_state_mappings_and_leftovers(self):
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
        # Not judged here: neighbours on the same core change it by several per cent.
        print(f"counter per CPU second: {before:.0f} before, {after:.0f} after")
        self.assertNotIn("T", watch.states)
        self.assertNotIn("t", watch.states)
        harness.wait_for(lambda: not left_over(), what="nothing of ours is left in the kernel")

    @staticmethod
    def mapped_files(pid):
        with open(f"/proc/{pid}/maps") as file:
            return sorted({line.split(None, 5)[-1].strip() for line in file if "/" in line})


if __name__ == "__main__":
    harness.main()
