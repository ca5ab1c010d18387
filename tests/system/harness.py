"""What the system tests share: start a puppet, record it with the real program, read the result.

Each test file is a unittest module that ends in `harness.main()`. ctest gives the places in
LUMBRE_BIN and LUMBRE_PUPPETS; by hand they default to build/. Exit 77 tells ctest that every test
of the file was skipped; the reasons are printed.
"""

import collections
import contextlib
import glob
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import pprof_reader

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("LUMBRE_BUILD_DIR", str(SOURCE / "build")))
LUMBRE = os.environ.get("LUMBRE_BIN", str(BUILD / "lumbre"))
PUPPETS = pathlib.Path(os.environ.get("LUMBRE_PUPPETS", str(BUILD / "tests" / "puppets")))
PYTHON_PUPPETS = SOURCE / "tests" / "puppets" / "python"
IS_FULL = os.environ.get("LUMBRE_TEST_FULL") == "1"
SKIP_STATUS = 77
# Of a puppet that is always busy, however little CPU a loaded machine leaves it: how much CPU time
# is shown is for test_totals.py to hold against the scheduler's own account.
ENOUGH_SAMPLES = 20
# At the default rate. Few, so that a busy machine does not fail a test of something else: that
# totals are right is test_totals.py's claim.
ENOUGH_PER_SECOND = 5


def why_not_recording():
    """Why this machine cannot record at all, or ''."""
    if os.geteuid() != 0:
        return "recording needs root"
    if not os.path.exists("/sys/kernel/btf/vmlinux"):
        return "this kernel has no BTF"
    if not os.path.exists(LUMBRE):
        return f"{LUMBRE} is not built"
    return ""


class RecordingTest(unittest.TestCase):
    """A test that records. Has a folder of its own in self.folder."""

    def setUp(self):
        reason = why_not_recording()
        if reason:
            self.skipTest(reason)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="lumbre-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def record_pid(self, pid, seconds, *options, name="recording"):
        return record(self.folder / name, "-p", str(pid), "-d", str(seconds), *options)

    def assert_one_line(self, text):
        self.assertEqual(1, len(text.strip().splitlines()), f"not one line: {text!r}")


# ---- puppets ---------------------------------------------------------------------------------


def puppet_path(name):
    path = PUPPETS / name
    if not path.exists():
        raise unittest.SkipTest(f"the puppet {name} is not built here")
    return str(path)


def limit_cpu_time():
    """Whatever happens to this harness, no program of a test works on for ever."""
    resource.setrlimit(resource.RLIMIT_CPU, (200, 200))


@contextlib.contextmanager
def running(*command, **popen):
    """Starts a program, waits for its first line (kept in .first_line), ends it by its PID."""
    command = [str(part) for part in command]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, preexec_fn=limit_cpu_time, **popen
    )
    try:
        process.first_line = process.stdout.readline()
        if not process.first_line:
            raise RuntimeError(f"{command} ended before it said that it is ready")
        yield process
    finally:
        end(process)


def end(process):
    """Ends a program and what it has started, by their PIDs."""
    children = descendants_of(process.pid)
    process.terminate()
    try:
        process.wait(timeout=5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for pid in children:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    process.stdout.close()


@contextlib.contextmanager
def puppet(name, *arguments, **popen):
    with running(puppet_path(name), *arguments, **popen) as process:
        yield process


def children_of(pid):
    out = []
    for path in glob.glob(f"/proc/{pid}/task/*/children"):
        with contextlib.suppress(OSError), open(path) as file:
            out += [int(word) for word in file.read().split()]
    return out


def descendants_of(pid):
    out = []
    for child in children_of(pid):
        out += [child, *descendants_of(child)]
    return out


def wait_for(condition, seconds=20, what="the condition"):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    raise AssertionError(f"{what} did not come true within {seconds} s")


# ---- recordings ------------------------------------------------------------------------------


class Recorded:
    def __init__(self, out, process, wall_seconds):
        self.out = out
        self.stderr = process.stderr
        self.stdout = process.stdout
        self.wall_seconds = wall_seconds
        self._cpu = None

    @property
    def summary(self):
        return json.loads((self.out / "summary.json").read_text())

    @property
    def event(self):
        return self.summary["events"]["cpu"]

    @property
    def cpu(self):
        if self._cpu is None:
            path = self.out / "cpu.pb.gz" if self.out.is_dir() else self.out
            self._cpu = pprof_reader.read(path)
        return self._cpu

    def stacks(self, **labels):
        """Counter of frame lists (tuples of names, root first) with their samples."""
        out = collections.Counter()
        for sample in self.samples(**labels):
            out[tuple(frame.name for frame in sample.frames)] += sample.values[0]
        return out

    def samples(self, **labels):
        wanted = labels.items()
        return [s for s in self.cpu.samples if all(s.labels.get(k) == v for k, v in wanted)]

    def count(self, accept, **labels):
        """Samples whose list of frame names `accept` takes, and all samples."""
        stacks = self.stacks(**labels)
        return sum(n for stack, n in stacks.items() if accept(stack)), sum(stacks.values())


def run_lumbre(*arguments, timeout=100, **options):
    command = [LUMBRE] + [str(argument) for argument in arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout, **options)


def record(out, *arguments, expect=0, timeout=100):
    start = time.monotonic()
    process = run_lumbre("record", "-o", out, "-q", *arguments, timeout=timeout)
    if process.returncode != expect:
        raise AssertionError(
            f"record {arguments} exited with {process.returncode}, not {expect}: {process.stderr}"
        )
    return Recorded(pathlib.Path(out), process, time.monotonic() - start)


def read_folded(text):
    out = collections.Counter()
    for line in text.splitlines():
        stack, _, value = line.rpartition(" ")
        out[tuple(stack.split(";"))] += int(value)
    return out


def start_lumbre(*arguments, **popen):
    command = [LUMBRE] + [str(argument) for argument in arguments]
    popen = {"text": True, **popen}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **popen)


# ---- stacks ----------------------------------------------------------------------------------


def in_order(stack, *names):
    """True when `names` stand in the stack in this order, other frames between them allowed."""
    rest = iter(stack)
    return all(any(frame == name for frame in rest) for name in names)


def without_kernel(frames):
    """The user part of a sample's frames."""
    return [frame for frame in frames if not frame.module.startswith("[kernel")]


def top_stacks(recorded, limit=5):
    """For messages: the most frequent stacks."""
    common = recorded.stacks().most_common(limit)
    return "\n".join(f"  {count:6} {';'.join(stack)}" for stack, count in common)


# ---- CPU time as the kernel counts it --------------------------------------------------------


def scheduled_seconds(pid):
    """CPU seconds of all threads that a process has now, exact to the nanosecond."""
    total = 0
    for path in glob.glob(f"/proc/{pid}/task/*/schedstat"):
        with contextlib.suppress(OSError), open(path) as file:
            total += int(file.read().split()[0])
    return total * 1e-9


def idle_seconds():
    """Seconds that the CPUs were idle since the boot, all added up."""
    with open("/proc/stat") as file:
        words = file.readline().split()
    return (int(words[4]) + int(words[5])) / os.sysconf("SC_CLK_TCK")


# ---- interpreters ----------------------------------------------------------------------------


def python_version(path):
    try:
        text = subprocess.run(
            [path, "-I", "-S", "-c", "import sys; print('%d.%d' % sys.version_info[:2])"],
            capture_output=True, text=True, timeout=20,
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    match = re.fullmatch(r"(\d+)\.(\d+)\n", text)
    return tuple(map(int, match.groups())) if match else None


def pythons():
    """{path: version} of the CPythons 3.8 and later here, links to the same file once."""
    found = {}
    places = ["/usr/bin/python3.*", "/usr/local/bin/python3.*"]
    root = os.environ.get("PYENV_ROOT", os.path.expanduser("~/.pyenv"))
    places.append(os.path.join(root, "versions", "*", "bin", "python3.*"))
    candidates = os.environ.get("LUMBRE_PYTHONS", "").split(":")
    for place in places:
        candidates += sorted(glob.glob(place))
    for path in candidates:
        if not re.search(r"python3\.\d+$", path) or os.path.realpath(path) in found:
            continue
        version = python_version(path)
        if version and version >= (3, 8):
            found[os.path.realpath(path)] = version
    return found


def python_with(module):
    """An interpreter that can import a module, or a skip."""
    wanted = [os.environ.get("LUMBRE_TORCH_PYTHON", ""), "/usr/bin/python3", "python3"]
    for path in filter(None, wanted):
        with contextlib.suppress(OSError):
            if subprocess.run([path, "-c", f"import {module}"], capture_output=True).returncode == 0:
                return path
    raise unittest.SkipTest(f"no python3 here can import {module}")


@contextlib.contextmanager
def python_script(text, python=None, **popen):
    """Runs a script that prints a line when it is ready."""
    with tempfile.NamedTemporaryFile("w", suffix=".py", prefix="script-") as file:
        file.write(text)
        file.flush()
        command = [python or "/usr/bin/python3", "-u", file.name]
        with running(*command, **popen) as process:
            process.script = file.name
            yield process


# ---- the end ---------------------------------------------------------------------------------


class _Result(unittest.TextTestResult):
    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        print(f"SKIP: {test.id()}: {reason}", flush=True)


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # ctest's timeout still cleans up
    runner = unittest.TextTestRunner(stream=sys.stdout, verbosity=2, resultclass=_Result)
    program = unittest.main(module="__main__", testRunner=runner, exit=False)
    result = program.result
    if not result.wasSuccessful():
        sys.exit(1)
    ran = result.testsRun - len(result.skipped)
    sys.exit(SKIP_STATUS if result.skipped and ran == 0 else 0)
