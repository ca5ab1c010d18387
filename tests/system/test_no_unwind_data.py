"""The callers of code without unwind data are found, and are the right ones."""

import harness

SECONDS = 4
KERNELS = ("kernel_realigned_", "kernel_pushing_", "kernel_calling_")


class CodeWithoutUnwindData(harness.RecordingTest):
    def recorded(self, name):
        with harness.puppet(name, SECONDS + 5) as process:
            return self.record_pid(process.pid, SECONDS)

    def test_the_caller_of_a_kernel_is_the_one_that_called_it(self):
        recorded = self.recorded("no_unwind_data")
        seen = {name: [0, 0] for name in KERNELS}
        for sample in recorded.cpu.samples:
            names = [frame.name for frame in sample.frames]
            for at, name in enumerate(names):
                kind = next((kernel for kernel in KERNELS if name.startswith(kernel)), None)
                if kind is not None:
                    colour = name.removeprefix(kind)
                    callers = names[at - 3 : at]
                    is_right = names[0] == "_start" and callers == ["main", "paint", colour]
                    seen[kind][0] += sample.values[0] * is_right
                    seen[kind][1] += sample.values[0]
        print(seen)
        for kind, (right, total) in seen.items():
            self.assertGreater(total, SECONDS * harness.ENOUGH_PER_SECOND / 6, kind)
            self.assertGreaterEqual(right, 0.99 * total, f"{kind}: {harness.top_stacks(recorded)}")

    def test_what_is_proven_is_not_called_approximate(self):
        recorded = self.recorded("no_unwind_data")
        self.assertEqual({}, recorded.event["truncated"])
        self.assertEqual(0, recorded.event["approximate"])

    def test_without_symbols_the_root_is_reached_too(self):
        recorded = self.recorded("no_unwind_data_stripped")
        whole, total = recorded.count(lambda s: not s[0].startswith("[truncated:"))
        self.assertGreater(total, SECONDS * harness.ENOUGH_PER_SECOND)
        self.assertGreaterEqual(whole, 0.99 * total, harness.top_stacks(recorded))
        self.assertGreater(recorded.event["approximate"], 0)


if __name__ == "__main__":
    harness.main()
