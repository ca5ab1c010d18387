"""What Lumbre costs: `bench.py [NAME...]` prints one line for each figure, with the yardstick that
was measured beside it in the same run, and the goal. Nothing fails: machines differ, ratios less so.

The figures alternate with their yardsticks, several rounds each, and medians are compared."""

import contextlib
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "system"))
import harness  # noqa: E402
import pprof_reader  # noqa: E402

ROUNDS = 5
FRAME_POINTER_WALK = harness.BUILD / "tests" / "bench" / "frame_pointer_walk"
TORCH_PYTHON = os.environ.get("LUMBRE_TORCH_PYTHON", "")


def report(name, measured, unit, yardstick="", goal=""):
    print(f"{name:42} {measured:>10} {unit:8} {yardstick:44} {goal}", flush=True)


class Recording(contextlib.AbstractContextManager):
    """A recording in a folder that goes away."""

    def __init__(self, *options):
        self.folder = tempfile.TemporaryDirectory(prefix="lumbre-bench-")
        self.recorded = harness.record(pathlib.Path(self.folder.name) / "out", *options)
        self.summary = self.recorded.summary
        self.event = self.recorded.event

    def __exit__(self, *unused):
        self.folder.cleanup()


def measure(pid, seconds, *options):
    with Recording("-p", pid, "-d", seconds, *options) as recording:
        return recording.summary


@contextlib.contextmanager
def training(workers=2):
    script = HERE / "train_transformer.py"
    with harness.running(TORCH_PYTHON, script, "600", str(workers)) as process:
        yield process


def bench_native():
    """A native stack of 30 frames without frame pointers; the kernel's frame-pointer walk of the
    same program compiled with them."""
    ours, theirs = [], []
    with harness.puppet("deep", 300, 27) as plain, harness.puppet(
        "deep_frame_pointer", 300, 27
    ) as framed:
        for _ in range(ROUNDS):
            summary = measure(plain.pid, 3, "-F", 999, "--self-check", 0)
            frames = summary["kernel_counters"]["native_frames"]
            walked = summary["kernel_walk"]["ends"]["root"]
            ours.append((summary["events"]["cpu"]["ns_per_sample"], frames / walked))
            done = subprocess.run(
                [FRAME_POINTER_WALK, str(framed.pid), "3", "999"], capture_output=True, check=True
            )
            walk = json.loads(done.stdout)
            theirs.append((walk["ns_per_run"], walk["frames_per_run"]))
    nanoseconds, frames = (statistics.median(values) for values in zip(*ours))
    other, other_frames = (statistics.median(values) for values in zip(*theirs))
    report(
        "native sample, whole (BPF time)", f"{nanoseconds:.0f}", "ns",
        f"bpf_get_stack alone, frame pointers: {other:.0f} ns",
        f"x{nanoseconds / other:.2f} (at most 1)",
    )
    report(
        "  of it per frame", f"{nanoseconds / frames:.0f}", "ns",
        f"{other / other_frames:.0f} ns; frames {frames:.1f} and {other_frames:.1f}",
    )


def bench_torch():
    """Samples of a PyTorch training loop."""
    for frequency in (99, 999):
        with training() as process:
            time.sleep(5)
            summaries = [measure(process.pid, 10, "-F", frequency) for _ in range(3)]
        event = [s["events"]["cpu"] for s in summaries]
        walk = [s["kernel_walk"] for s in summaries]
        report(
            f"PyTorch sample at {frequency} Hz (BPF time)",
            f"{statistics.median(e['ns_per_sample'] for e in event):.0f}", "ns", "",
            "at most 10000",
        )
        report("  through the ring buffer",
               f"{statistics.median(e['bytes_per_sample'] for e in event):.0f}", "bytes")
        complete = [1 - sum(e["truncated"].values()) / e["shown"] for e in event]
        report("  reach the root", f"{100 * statistics.median(complete):.2f}", "%", "",
               "at least 99")
        in_kernel = [w["ends"].get("root", 0) / sum(w["ends"].values()) for w in walk]
        report("  walked whole in the kernel", f"{100 * statistics.median(in_kernel):.2f}", "%")
        report("  rule cache hits",
               f"{100 * statistics.median(w['rule_cache_hit_rate'] for w in walk):.2f}", "%")
        checked, mismatched = (sum(w[key] for w in walk) for key in ("checked", "mismatched"))
        report("  self-check mismatches", f"{mismatched}", "", f"of {checked} stacks", "0")


def bench_start():
    """From exec of lumbre to its first sample of a PyTorch process; its memory and CPU time."""
    with training() as process:
        time.sleep(5)
        delays, summaries = [], []
        for _ in range(ROUNDS):
            begin = time.time()
            with Recording("-p", process.pid, "-d", 2) as recording:
                profile = pprof_reader.read(recording.recorded.out / "cpu.pb.gz")
                delays.append(profile.time_nanos * 1e-9 - begin)
                summaries.append(recording.summary)
        slow = measure(process.pid, 60)
        fast = measure(process.pid, 10)
    report("exec to sampling, PyTorch process", f"{1000 * statistics.median(delays):.0f}", "ms", "",
           "at most 300")
    report("memory, peak", f"{slow['cost']['rss_bytes'] / 1e6:.0f}", "MB", "", "at most 60")
    report("kernel memory", f"{slow['cost']['kernel_bytes'] / 1e6:.0f}", "MB", "", "at most 16")
    steady = (slow["cost"]["cpu_seconds"] - fast["cost"]["cpu_seconds"]) / 50
    report("own CPU at 99 Hz, steady", f"{100 * steady:.2f}", "%", "of one core; without BPF",
           "at most 0.3")


def loop_rate(process, seconds):
    """Turns per CPU second of the spin puppet."""
    lines, end = [], time.monotonic() + seconds
    while time.monotonic() < end or len(lines) < 2:
        lines.append([float(word) for word in process.stdout.readline().split()])
    return (lines[-1][0] - lines[0][0]) / (lines[-1][1] - lines[0][1])


def bench_slowdown():
    """A steady loop with and without Lumbre, interleaved, against what the cost predicts."""
    for frequency in (99, 999, 4999):
        with harness.puppet("spin", 600, "--count") as process:
            process.stdout.readline()
            ratios, predicted = [], []
            for _ in range(ROUNDS):
                before = loop_rate(process, 3)
                with tempfile.TemporaryDirectory() as folder:
                    recorder = harness.start_lumbre(
                        "record", "-q", "-p", process.pid, "-F", frequency, "-d", 4.5,
                        "-o", f"{folder}/out",
                    )
                    time.sleep(0.7)
                    process.stdout.readline()
                    during = loop_rate(process, 3)
                    recorder.communicate()
                    summary = json.loads(pathlib.Path(f"{folder}/out/summary.json").read_text())
                after = loop_rate(process, 3)
                ratios.append(1 - during / ((before + after) / 2))
                predicted.append(summary["events"]["cpu"]["ns_per_sample"] * frequency * 1e-9)
        report(
            f"slowdown of a loop at {frequency} Hz", f"{100 * statistics.median(ratios):.2f}", "%",
            f"predicted, without the interrupt: {100 * statistics.median(predicted):.2f} %",
            {99: "under 0.1", 999: "under 1"}.get(frequency, ""),
        )


def bench_finish():
    """The end of a system-wide recording to its last file; perf script on the same load."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(training())
        stack.enter_context(harness.puppet("split", 600, 1))
        time.sleep(5)
        with Recording("-a", "-d", 30) as recording:
            start = recording.recorded.cpu.time_nanos + recording.recorded.cpu.duration_nanos
            files = [p.stat().st_mtime for p in recording.recorded.out.iterdir()]
            seconds = max(files) - start * 1e-9
        report("end of 30 s of the machine to its files", f"{seconds:.2f}", "s", "", "under 1")


BENCHES = {
    "native": bench_native,
    "torch": bench_torch,
    "start": bench_start,
    "slowdown": bench_slowdown,
    "finish": bench_finish,
}


def main():
    reason = harness.why_not_recording()
    if reason:
        sys.exit(f"bench: {reason}")
    for name in sys.argv[1:] or BENCHES:
        if name in ("torch", "start", "finish") and not TORCH_PYTHON:
            print(f"{name}: skipped, LUMBRE_TORCH_PYTHON names no Python with PyTorch")
            continue
        BENCHES[name]()


if __name__ == "__main__":
    main()
