"""T23: however a program was linked, its frames have the same names."""

import harness

SECONDS = 2
LAYOUTS = [
    "spin", "spin_static", "spin_static_pie", "spin_no_pie", "spin_noseparate", "spin_lld",
    "spin_musl",
]


class LinkLayouts(harness.RecordingTest):
    def names_of(self, layout):
        with harness.puppet(layout, SECONDS + 5) as process:
            recorded = self.record_pid(process.pid, SECONDS, name=layout)
        self.assertGreater(recorded.cpu.total("samples"), SECONDS * harness.ENOUGH_PER_SECOND)
        # musl's C library comes without unwind data: its instructions say how to pass it. Above c
        # may stand the kernel's own frames and the clock that it asks.
        whole, total = recorded.count(
            lambda s: s[0] == "_start" and "main" in s
            and s[s.index("main"):][:4] == ("main", *"abc")
        )
        self.assertGreaterEqual(whole, 0.99 * total, harness.top_stacks(recorded))
        return recorded

    def check_lines(self, recorded):
        files = {f.file for s in recorded.cpu.samples for f in s.frames if f.name == "c"}
        self.assertTrue(any(file.endswith("spin.c") for file in files), files)


def add_test(layout):
    def test(self):
        self.check_lines(self.names_of(layout))

    setattr(LinkLayouts, f"test_{layout}", test)


for each in LAYOUTS:
    add_test(each)

if __name__ == "__main__":
    harness.main()
