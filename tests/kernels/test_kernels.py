"""Lumbre on other kernels: Debian's, from old to the newest, emulated by qemu.

`./dev test-kernels [KernelTest.test_NAME...]`; not part of `./dev test`, as it downloads kernels and
takes minutes for each. What a kernel printed stays in LUMBRE_BUILD_DIR/kernels/SUITE.log.
"""

import json
import os
import pathlib
import subprocess
import unittest

import guest
import initramfs

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ.get("LUMBRE_BUILD_DIR", str(HERE.parents[1] / "build")))
CACHE = pathlib.Path(os.environ.get("LUMBRE_CACHE", str(pathlib.Path.home() / ".cache/lumbre")))
WORK = BUILD / "kernels"
COMPLETE_SHARE = 0.95


def fetch(suite):
    """The folder with the kernel; skips the test where there is none to have."""
    folder = CACHE / "kernels" / suite
    result = subprocess.run([HERE / "fetch_kernel.sh", suite, folder], capture_output=True,
                            text=True, check=False)
    if result.returncode == 77:
        raise unittest.SkipTest(result.stdout.strip().splitlines()[-1])
    if result.returncode != 0:
        raise unittest.SkipTest(f"fetch_kernel.sh failed: {result.stderr.strip()}")
    return folder


class KernelTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        WORK.mkdir(parents=True, exist_ok=True)
        cls.image = WORK / "initramfs"
        initramfs.build(cls.image, BUILD / "lumbre", BUILD / "tests" / "puppets",
                        BUILD / "bpf" / "lumbre_bpf.o")

    def boot(self, suite):
        folder = fetch(suite)
        log = WORK / f"{suite}.log"
        sections = guest.boot(folder / "vmlinuz", self.image, log)
        self.assertIn("kernel", sections, f"the kernel did not boot: {log}")
        print(f"\n  {sections['kernel'].text}; all it printed: {log}")
        return sections

    def check_recording(self, sections, name, programs, is_checked=False):
        record = sections[f"record-{name}"]
        self.assertEqual(record.status, 0, record.text)
        summary = json.loads(sections[f"summary-{name}"].text)
        cpu, walk = summary["events"]["cpu"], summary["kernel_walk"]
        shown, truncated = cpu["shown"], sum(cpu["truncated"].values())
        roots = walk["ends"].get("root", 0)
        self.assertEqual(summary["kernel_programs"], programs)
        print(f"  {name} ({programs}): {shown} samples, lost {cpu['lost']}, truncated "
              f"{cpu['truncated']}, {roots} walked to the root in the kernel, {walk['mismatched']} of "
              f"{walk['checked']} mismatched, {cpu.get('ns_per_sample')} ns each (emulated)")
        self.assertGreater(shown, 0)
        self.assertEqual(cpu["lost"], {})
        self.assertGreater(1 - truncated / shown, COMPLETE_SHARE, cpu["truncated"])
        self.assertGreater(roots, shown / 2, walk["ends"])
        self.assertEqual(walk["mismatched"], 0, walk.get("first_mismatch"))
        if is_checked:
            self.assertGreater(walk["checked"], 0)
        self.assertEqual(sections[f"report-{name}"].status, 0)
        return sections[f"report-{name}"].text

    def check_works(self, sections, programs="usual"):
        self.assertEqual(sections["doctor"].status, 0, sections["doctor"].text)
        if programs == "usual":
            self.assertEqual(sections["verifier"].status, 0, sections["verifier"].text)
        self.check_recording(sections, "checked", programs, is_checked=True)
        self.assertIn("split::mix_bits", self.check_recording(sections, "split", programs))
        self.check_recording(sections, "deep", programs)
        self.assertIn("read_zeroes", self.check_recording(sections, "syscalls", programs))
        if "record-python" in sections:
            self.assertIn("inner", self.check_recording(sections, "python", programs))
        self.check_recording(sections, "classic", "classic", is_checked=True)

    def check_says_what_is_missing(self, sections):
        missing = [line for line in sections["doctor"].lines if line.startswith("no ")]
        print("\n".join(f"  {line}" for line in missing))
        self.assertTrue(any("bpf_loop" in line for line in missing), sections["doctor"].text)
        self.assertIn("bpf_loop", sections["record-split"].text)

    def test_debian_11_linux_5_10(self):
        sections = self.boot("bullseye")
        self.check_works(sections, "classic")
        self.check_says_what_is_missing(sections)

    def test_debian_12_linux_6_1(self):
        self.check_works(self.boot("bookworm"))

    def test_debian_13_linux_6_12(self):
        self.check_works(self.boot("trixie"))

    def test_debian_unstable_newest_linux(self):
        self.check_works(self.boot("unstable"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
