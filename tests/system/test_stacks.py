"""Native stacks reach the root, whatever the code was compiled to."""


import harness

SECONDS = 3


class NativeStacks(harness.RecordingTest):
    def recorded(self, name, *arguments, seconds=SECONDS, options=()):
        with harness.puppet(name, seconds + 5, *arguments) as process:
            return self.record_pid(process.pid, seconds, *options)

    def assert_share(self, recorded, least, accept):
        good, total = recorded.count(accept)
        self.assertGreater(total, SECONDS * harness.ENOUGH_PER_SECOND)
        message = f"{good} of {total}:\n{harness.top_stacks(recorded)}"
        self.assertGreaterEqual(good, least * total, message)

    def test_memcpy_without_a_frame_keeps_its_caller(self):  # T01
        recorded = self.recorded("memcpy_leaf")
        leaves = ("memcpy", "memmove")
        in_copy, whole = 0, 0
        for sample in recorded.cpu.samples:
            frames = harness.without_kernel(sample.frames)
            names = [frame.name for frame in frames]
            if names[-1] in "abc" or "libc" not in frames[-1].module:
                continue
            in_copy += sample.values[0]
            at = names.index("main") if "main" in names else -1
            whole += sample.values[0] * (at >= 0 and names[at : at + 4] == ["main", *"abc"])
        print(f"{whole} of {in_copy} samples in {leaves} hold main;a;b;c")
        self.assertGreater(in_copy, SECONDS * harness.ENOUGH_PER_SECOND)
        self.assertGreaterEqual(whole, 0.95 * in_copy, harness.top_stacks(recorded))

    def test_recursion_of_400_is_whole_or_truncated_in_one_way(self):  # T03
        recorded = self.recorded("deep", 400)
        depths = {stack.count("rec") for stack in recorded.stacks()}
        deepest = max(depths)
        if deepest != 401:
            self.assertEqual(1, len(depths), "all samples share one tower")
        self.assert_share(
            recorded,
            0.99,
            lambda s: s.count("rec") == deepest
            and (s[0] == "_start" if deepest == 401 else s[0].startswith("[truncated:")),
        )

    def test_a_stack_over_the_depth_asked_for_is_marked_at_its_root(self):
        recorded = self.recorded("deep", 400, options=("--stack-depth", "100"))
        self.assert_share(recorded, 0.99, lambda s: s[0].startswith("[truncated:"))
        self.assertGreater(sum(recorded.event["truncated"].values()), 0)
        self.assertEqual(1, len({stack.count("rec") for stack in recorded.stacks()}))

    def test_large_frames_without_frame_pointers(self):  # T05
        recorded = self.recorded("spin_no_fp")
        self.assert_share(recorded, 0.99, lambda s: harness.in_order(s, "_start", "main", *"abc"))

    def test_functions_that_realign_the_stack(self):
        recorded = self.recorded("realign")
        self.assert_share(
            recorded,
            0.99,
            lambda s: harness.in_order(s, "_start", "main", "outer", "middle", "inner"),
        )

    def test_signal_handler_stands_above_the_code_it_interrupted(self):
        recorded = self.recorded("signal_spin")
        self.assert_share(
            recorded,
            0.99,
            lambda s: harness.in_order(
                s, "_start", "main", "interrupted", "on_signal", "handler_work"
            ),
        )

    def test_vdso_stands_above_its_caller(self):
        recorded = self.recorded("vdso_spin")
        self.assert_share(recorded, 0.99, lambda s: harness.in_order(s, "_start", "main", "ask_time"))
        modules = {f.module for s in recorded.cpu.samples for f in s.frames}
        self.assertIn("[vdso]", modules)

    def test_kernel_frames_stand_above_the_call_that_entered_the_kernel(self):
        recorded = self.recorded("busy_syscalls")

        def in_kernel(sample):
            return sample.frames[-1].module.startswith("[kernel")

        samples = recorded.cpu.samples
        kernel = sum(s.values[0] for s in samples if in_kernel(s))
        whole = sum(
            s.values[0]
            for s in samples
            if in_kernel(s)
            and harness.in_order([f.name for f in s.frames], "_start", "main", "read_zeroes")
        )
        total = sum(s.values[0] for s in samples)
        self.assertGreater(kernel, 0.8 * total, harness.top_stacks(recorded))
        self.assertGreaterEqual(whole, 0.99 * kernel, harness.top_stacks(recorded))

    def test_threads_reach_their_start_and_carry_their_names(self):
        recorded = self.recorded("threads", 0, 2)
        names = {sample.labels["thread"] for sample in recorded.cpu.samples}
        self.assertIn("busy", names)
        stacks = recorded.stacks(thread="busy")
        whole = sum(
            n for s, n in stacks.items() if harness.in_order(s, "busy_thread", "busy_loop")
            and not s[0].startswith("[truncated")
        )
        self.assertGreaterEqual(whole, 0.99 * sum(stacks.values()), harness.top_stacks(recorded))


if __name__ == "__main__":
    harness.main()
