"""Boots a kernel in qemu, without KVM, and takes apart what init.sh printed."""

import re
import subprocess

BOOT_SECONDS = 900  # an emulated processor on a loaded machine
BEGIN = re.compile(r"^@@@ begin (\S+)$")
END = re.compile(r"^@@@ end (\S+) (\d+)$")


class Section:
    """One command of the guest: what it printed, and its exit status (None: it never ended)."""

    def __init__(self):
        self.lines = []
        self.status = None

    @property
    def text(self):
        return "\n".join(self.lines)


def parse(console):
    sections, current = {}, None
    for line in console.splitlines():
        begin, end = BEGIN.match(line), END.match(line)
        if begin:
            current = sections.setdefault(begin[1], Section())
        elif end and end[1] in sections:
            sections[end[1]].status = int(end[2])
            current = None
        elif current is not None:
            current.lines.append(line)
    return sections


def boot(kernel, initramfs, log):
    """The guest's sections by name. All that it printed goes to the file `log`, too."""
    # Five-level page tables slow an emulated processor down.
    command = ["qemu-system-x86_64", "-accel", "tcg", "-cpu", "max,la57=off", "-smp", "2",
               "-m", "1536", "-kernel", str(kernel), "-initrd", str(initramfs), "-display", "none",
               "-serial", "stdio", "-monitor", "none", "-nic", "none", "-no-reboot",
               "-append", "console=ttyS0 quiet panic=-1 mitigations=off"]
    with open(log, "wb") as file:
        try:
            subprocess.run(command, stdin=subprocess.DEVNULL, stdout=file,
                           stderr=subprocess.STDOUT, timeout=BOOT_SECONDS, check=False)
        except subprocess.TimeoutExpired:
            file.write(f"\nno end after {BOOT_SECONDS} s\n".encode())
    return parse(log.read_text(errors="replace"))
