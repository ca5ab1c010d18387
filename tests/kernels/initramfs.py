"""Makes the file system that an emulated kernel starts from: busybox, Lumbre, puppets, an init.

A "newc" archive (Documentation/driver-api/early-userspace/buffer-format.rst of the kernel), not
compressed: an emulated processor would unpack it slowly.
"""

import os
import pathlib
import re
import shutil
import stat
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
FOLDERS = ("bin", "dev", "etc", "lib", "lib64", "out", "proc", "puppets", "sys", "tmp", "usr")
PYTHON = "/usr/bin/python3"
# Of the standard library: large, and nothing that a short program imports.
PYTHON_LEFT_OUT = {"test", "idlelib", "ensurepip", "lib2to3", "tkinter", "dist-packages",
                   "site-packages", "pydoc_data"}


class Archive:
    """Files by their path in the guest."""

    def __init__(self, file):
        self.file = file
        self.number = 0
        self.known = set()

    def _add(self, path, mode, content=b"", device=(0, 0)):
        path = str(path).lstrip("/")
        if path in self.known:
            return
        self.known.add(path)
        self.number += 1
        name = path.encode() + b"\0"
        fields = (self.number, mode, 0, 0, 1, 0, len(content), 0, 0, *device, len(name), 0)
        header = b"070701" + b"".join(b"%08X" % field for field in fields)
        for part in (header + name, content):
            self.file.write(part + b"\0" * (-len(part) % 4))

    def add_folder(self, path):
        path = pathlib.PurePosixPath(str(path).lstrip("/"))
        for folder in [*reversed(path.parents), path]:
            if str(folder) != ".":
                self._add(folder, stat.S_IFDIR | 0o755)

    def add_file(self, path, source):
        self.add_folder(pathlib.PurePosixPath(path).parent)
        mode = 0o755 if os.access(source, os.X_OK) else 0o644
        self._add(path, stat.S_IFREG | mode, pathlib.Path(source).read_bytes())

    def add_device(self, path, major, minor):
        self._add(path, stat.S_IFCHR | 0o600, device=(major, minor))

    def add_program(self, path, source):
        """With the shared libraries it needs, where it looks for them."""
        self.add_file(path, source)
        for library in shared_libraries(source):
            self.add_file(library, library)

    def close(self):
        self._add("TRAILER!!!", 0)


def shared_libraries(program):
    listing = subprocess.run(["ldd", program], capture_output=True, text=True, check=False).stdout
    return re.findall(r"(/\S+) \(0x", listing)


def add_stripped(archive, path, source):
    """Lumbre itself without its debug information, which is most of it."""
    with tempfile.TemporaryDirectory() as folder:
        small = pathlib.Path(folder) / "program"
        subprocess.run(["strip", "--strip-debug", "-o", small, source], check=True)
        archive.add_program(path, small)


def add_python(archive):
    if not os.path.exists(PYTHON):
        return
    program = os.path.realpath(PYTHON)
    archive.add_program(PYTHON, program)
    library = pathlib.Path("/usr/lib") / pathlib.Path(program).name
    for folder, folders, files in os.walk(library):
        folders[:] = [name for name in folders if name not in PYTHON_LEFT_OUT]
        for name in files:
            source = pathlib.Path(folder) / name
            if source.suffix in (".py", ".pyc") and source.is_file():
                archive.add_file(source, source)


def build(destination, lumbre, puppets, bpf_object):
    with open(destination, "wb") as file:
        archive = Archive(file)
        for folder in FOLDERS:
            archive.add_folder(folder)
        archive.add_device("dev/console", 5, 1)
        archive.add_file("init", HERE / "init.sh")
        archive.add_file("bin/busybox", shutil.which("busybox") or "/bin/busybox")
        add_stripped(archive, "bin/lumbre", lumbre)
        archive.add_file("lumbre_bpf.o", bpf_object)
        for name in ("split", "deep", "busy_syscalls"):
            archive.add_program(f"puppets/{name}", pathlib.Path(puppets) / name)
        bpftool = os.environ.get("LUMBRE_BPFTOOL") or shutil.which("bpftool")
        if bpftool:
            archive.add_program("bin/bpftool", bpftool)
        add_python(archive)
        archive.add_file("puppets/python_loop.py", HERE / "python_loop.py")
        archive.close()
