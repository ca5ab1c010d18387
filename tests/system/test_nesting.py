"""Every Python stack against what the program itself knows: names, files, lines and order of about
120 nested frames (generators, callbacks out of C, ctypes, recursion...), on each CPython here, on
two threads that fight for the GIL; and complete to the interpreter's own start."""

import collections
import subprocess

import harness

SECONDS = 3
SMALLEST_SHARE = 0.99


def read_sections(stream):
    """{kernel thread id: [(name, file, line), ...] root first}, as nesting.py prints them."""
    threads = {}
    while True:
        line = stream.readline().decode("utf-8", "replace").rstrip("\n")
        if not line:
            return threads
        if line.startswith("thread "):
            _, _, tid, count = line.split()
            frames = []
            for _ in range(int(count)):
                text = stream.readline().decode("utf-8", "replace").rstrip("\n")
                name, file, number = text.split("\t")
                frames.append((name, file, int(number)))
            threads[int(tid)] = frames[::-1]
        elif line == "ready":
            return threads


class Nesting(harness.RecordingTest):
    def check(self, python):
        script = str(harness.PYTHON_PUPPETS / "nesting.py")
        process = subprocess.Popen(
            [python, script, "--burn", "60", "--threads", "2"], stdout=subprocess.PIPE
        )
        try:
            truth = read_sections(process.stdout)
            recorded = self.record_pid(process.pid, SECONDS, "-F", "199")
        finally:
            harness.end(process)
            process.stdout.close()
        self.assertEqual(2, len(truth))
        same = rooted = total = 0
        strange = collections.Counter()
        for sample in recorded.cpu.samples:
            count = sample.values[0]
            total += count
            python_frames = [
                (frame.name, frame.file, frame.line)
                for frame in sample.frames
                if frame.module in ("", "[python]") and not frame.name.startswith("[")
            ]
            if python_frames == truth.get(sample.labels["tid"]):
                same += count
            else:
                strange[self.first_difference(python_frames, truth[sample.labels["tid"]])] += count
            rooted += 0 if sample.frames[0].name.startswith("[truncated") else count
        print(f"{same} of {total} stacks are exact, {rooted} reach the root")
        self.assertGreater(total, 3 * harness.ENOUGH_PER_SECOND)
        self.assertGreaterEqual(same, SMALLEST_SHARE * total, strange.most_common(3))
        self.assertGreaterEqual(rooted, SMALLEST_SHARE * total)

    @staticmethod
    def first_difference(got, expected):
        for index, (a, b) in enumerate(zip(got, expected)):
            if a != b:
                return f"frame {index}: got {a}, expected {b}"
        return f"got {len(got)} frames, expected {len(expected)}: {got[len(expected):][:2]}"


def add_test(path, version):
    name = "test_nesting_on_%d_%d_" % version + "".join(c if c.isalnum() else "_" for c in path)
    setattr(Nesting, name, lambda self: self.check(path))


for interpreter, its_version in sorted(harness.pythons().items()):
    if its_version < (3, 15):
        add_test(interpreter, its_version)

if __name__ == "__main__":
    harness.main()
