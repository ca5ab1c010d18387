"""An unmodified training program, with PyTorch and with numpy: one stack from C++ to Python."""

import harness

SECONDS = 6


class Training(harness.RecordingTest):
    def recorded(self, framework, *modules):
        python = harness.python_with(framework)
        command = [python, "-u", harness.PYTHON_PUPPETS / "train_demo.py", "--seconds", "90",
                   "--framework", framework]
        with harness.running(*command) as process:
            harness.wait_for(
                lambda: process.stdout.readline().startswith("step"), 60, "the first step"
            )
            recorded = self.record_pid(process.pid, SECONDS, "-F", 199)
        return recorded, process.pid

    def assert_python_everywhere(self, recorded, pid):
        """No sample of the main thread lacks its Python part."""
        main_thread = [
            s for s in recorded.samples(pid=pid) if s.labels["tid"] == pid
        ]
        total = sum(s.values[0] for s in main_thread)
        with_python = sum(
            s.values[0] for s in main_thread if any(f.name == "<module>" for f in s.frames)
        )
        print(f"{with_python} of {total} samples of the main thread reach <module>")
        self.assertGreater(total, 50)
        self.assertGreaterEqual(with_python, 0.99 * total, harness.top_stacks(recorded))

    def assert_seen(self, recorded, *names):
        good, _ = recorded.count(lambda s: harness.in_order(s, *names))
        self.assertGreater(good, 0, f"{names} in:\n{harness.top_stacks(recorded, 3)}")

    def python_name(self, name, recorded):
        """Qualified names exist from CPython 3.11 on; before, only the last part."""
        names = {frame for stack in recorded.stacks() for frame in stack}
        return name if name in names else name.rsplit(".", 1)[-1]

    def worker_samples(self, recorded, pid, function):
        return sum(
            s.values[0] for s in recorded.cpu.samples
            if s.labels["pid"] != pid and any(f.name == function for f in s.frames)
        )

    def test_numpy(self):
        recorded, pid = self.recorded("numpy")
        self.assert_python_everywhere(recorded, pid)
        step = self.python_name("Trainer.step", recorded)
        for part in ("Model.forward", "Model.backward", "AdamOptimizer.step"):
            self.assert_seen(recorded, "<module>", step, self.python_name(part, recorded))
        self.assertGreater(self.worker_samples(recorded, pid, "load_batch"), 0)

    def test_torch(self):
        recorded, pid = self.recorded("torch")
        self.assert_python_everywhere(recorded, pid)
        step = self.python_name("Trainer.step", recorded)
        self.assert_seen(recorded, "<module>", step, self.python_name("Classifier.forward", recorded))
        operators = sum(
            s.values[0] for s in recorded.cpu.samples
            if any(f.name == step for f in s.frames)
            and any("libtorch_cpu" in f.module for f in s.frames)
        )
        self.assertGreater(operators, 0, "operators stand above the Python line")
        self.assertGreater(self.worker_samples(recorded, pid, "augment"), 0)
        self.check_backward(recorded)

    def check_backward(self, recorded):
        """The autograd engine works in the calling thread on a CPU-only job."""
        good, _ = recorded.count(
            lambda s: any(name.endswith("backward") for name in s)
            and any("autograd" in name and "::" in name for name in s)
        )
        self.assertGreater(good, 0, "backward's C++ frames stand above its Python line")


if __name__ == "__main__":
    harness.main()
