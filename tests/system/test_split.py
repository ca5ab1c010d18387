"""A C++ program with a known time split: shares within 2 points, frame lists exact."""

import collections
import json

import harness

SECONDS = 30 if harness.IS_FULL else 12
LARGEST_ERROR_POINTS = 2.0
SMALLEST_EXACT_SHARE = 0.995


class Expected:
    """The frame lists that the puppet says it makes."""

    def __init__(self, described, in_thread):
        self.root_modules = described["thread_root" if in_thread else "root"][::-1]
        head = described["thread_main" if in_thread else "main"]
        self.lists = []
        for part in described["parts"]:
            frames = []
            for name in part["frames"]:
                frames += ["*libc*"] * described["sort_frames"] if name == "*libc*" else [name]
            base = [head, described["round"]] + frames
            for depth in range(len(part["inlined"]) + 1):
                self.lists.append((part["part"], base + part["inlined"][:depth]))
        # On the way to its work, or back, a stack is the beginning of such a list.
        self.by_length = collections.defaultdict(list)
        for part, names in self.lists:
            for length in range(1, len(names)):
                self.by_length[length].append(("on the way", names[:length]))
        for part, names in self.lists:
            self.by_length[len(names)].insert(0, (part, names))

    def part_of(self, frames):
        """The part that makes exactly these frames, "on the way" to one, or None."""
        roots = len(self.root_modules)
        for frame, module in zip(frames[:roots], self.root_modules):
            if frame.module.rsplit("/", 1)[-1] != module:
                return None
        own = frames[roots:]
        for part, names in self.by_length[len(own)]:
            if all(self.matches(frame, name) for frame, name in zip(own, names)):
                return part
        return None

    @staticmethod
    def matches(frame, name):
        if name == "*libc*":
            return "libc.so" in frame.module
        return frame.name == name


class Split(harness.RecordingTest):
    def classify(self, recorded, described):
        """Samples by part; None holds those that no part makes. And examples of the latter."""
        expected = {thread: Expected(described, thread) for thread in (False, True)}
        parts, strange = collections.Counter(), collections.Counter()
        for sample in recorded.cpu.samples:
            in_thread = sample.labels["thread"] == described["thread_name"]
            # The program counts libc's frames by return addresses: where libc's own debug
            # information is installed, its inlined functions are shown as well.
            frames = [frame for frame in harness.without_kernel(sample.frames)
                      if not (frame.inlined and "libc.so" in frame.module)]
            part = expected[in_thread].part_of(frames)
            parts[part] += sample.values[0]
            if part is None:
                strange[";".join(frame.name for frame in frames)] += sample.values[0]
        return parts, strange

    def test_shares_and_frame_lists_are_those_the_program_makes(self):
        with harness.puppet("split", SECONDS + 2, 1) as process:
            described = json.loads(process.first_line)
            recorded = self.record_pid(process.pid, SECONDS, "-F", "999")
            measured = json.loads(process.stdout.readline())
        parts, strange = self.classify(recorded, described)
        total = sum(parts.values())
        self.assertGreater(total, 20 * harness.ENOUGH_SAMPLES)
        exact = 1 - parts[None] / total
        print(f"exact frame lists: {exact:.4%} of {total}, {parts['on the way']} on the way")
        for stack, count in strange.most_common(3):
            print(f"  {count} x {stack if len(stack) < 300 else stack[:140] + ' ... ' + stack[-140:]}")
        message = "\n".join(f"{n:6} {stack}" for stack, n in strange.most_common(5))
        self.assertGreaterEqual(exact, SMALLEST_EXACT_SHARE, f"strange stacks:\n{message}")
        seconds = sum(measured.values())
        for part in ("recursion", "helpers", "sort"):
            truth, shown = measured[f"{part}_s"] / seconds, parts[part] / total
            print(f"{part}: {shown:.2%} shown, {truth:.2%} by the program's own clock")
            self.assertLess(abs(truth - shown) * 100, LARGEST_ERROR_POINTS, part)
        self.check_inlined(recorded)

    def check_inlined(self, recorded):
        mixed, total = recorded.count(lambda stack: "split::part_helpers" in stack)
        with_helper, _ = recorded.count(
            lambda stack: harness.in_order(
                stack, "split::part_helpers", "split::accumulate", "split::mix_bits"
            )
        )
        self.assertGreater(with_helper, mixed * 0.5, "inlined helpers are named")
        inlined = {f.name for s in recorded.cpu.samples for f in s.frames if f.inlined}
        self.assertIn("split::mix_bits", inlined)


if __name__ == "__main__":
    harness.main()
