"""Checks of the source tree, run as tests: `style.py CHECK`. Each failure is one line
`file:line: what is wrong`."""

import pathlib
import re
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[2]
PRODUCT = ("bpf", "symbolizer", "output", "userspace")
ENDINGS = {".h", ".c", ".cc"}

# Who may include what, by the top folders. userspace also sees bpf, but only these parts of it.
ALLOWED = {
    "bpf": {"bpf"},
    "symbolizer": {"symbolizer"},
    "output": {"output"},
    "userspace": {"userspace", "symbolizer", "output", "bpf"},
}
SHARED_OF_BPF = ("bpf/abi/", "bpf/core/")
# The rule engine of bpf/core and the tables of bpf/abi are also fed from DWARF.
ALSO = {("symbolizer", "bpf/abi/"), ("symbolizer", "bpf/core/")}

# Calls that belong to one owner each: pattern, the files that may write it.
OWNED = {
    r"(?<![\w])::close\(": {"symbolizer/base/unique_fd.h"},
    r"(?<![\w])::munmap\(": {"symbolizer/base/mapped_file.cc", "userspace/kernel/bpf_unwind_tables.cc",
                              "userspace/kernel/perf_event.cc",
                                   "userspace/kernel/sideband.cc"},
    r"(?<![\w])::dlopen\(": set(),
}
LONGEST_FILE = 500
# Longer ones, with the reason that a reader would accept.
LONG_WITH_REASON = {
    "symbolizer/demangle_cost.cc": "one grammar, one recursive descent",
    "symbolizer/demangle_rust_v0.cc": "one grammar, one recursive descent",
}
LONG_FILE = 300


def sources(folders=PRODUCT):
    for folder in folders:
        for path in sorted((SOURCE / folder).rglob("*")):
            if path.suffix in ENDINGS and path.is_file():
                yield path


def name_of(path):
    return str(path.relative_to(SOURCE))


def code_lines(path):
    """(number, line) without comments and without the insides of strings."""
    in_comment = False
    for number, line in enumerate(path.read_text().splitlines(), 1):
        line = re.sub(r'"(\\.|[^"\\])*"', '""', line)
        line = re.sub(r"/\*.*?\*/", "", line)
        if in_comment:
            if "*/" not in line:
                continue
            line, in_comment = line.split("*/", 1)[1], False
        line = line.split("//", 1)[0]
        if "/*" in line:
            line, in_comment = line.split("/*", 1)[0], True
        yield number, line


def check_includes():
    for path in sources():
        top = name_of(path).split("/", 1)[0]
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = re.match(r'\s*#include\s+"([^"]+)"', line)
            if not match or "/" not in match[1]:
                continue
            target = match[1]
            other = target.split("/", 1)[0]
            if other not in PRODUCT:
                continue
            if other == "bpf" and top != "bpf":
                if not target.startswith(SHARED_OF_BPF):
                    yield f"{name_of(path)}:{number}: {target} is the kernel programs' own"
                    continue
                if any(top == t and target.startswith(p) for t, p in ALSO):
                    continue
            if other not in ALLOWED[top]:
                yield f"{name_of(path)}:{number}: {top}/ may not include {target}"


def check_owners():
    for path in sources(("symbolizer", "output", "userspace")):
        for number, line in code_lines(path):
            for pattern, owners in OWNED.items():
                match = re.search(pattern, line)
                if match and name_of(path) not in owners:
                    yield f"{name_of(path)}:{number}: {match[0]}...) outside of its owner"


def check_sizes():
    for path in sources(PRODUCT + ("tests",)):
        lines = len(path.read_text().splitlines())
        if lines > LONGEST_FILE and name_of(path) not in LONG_WITH_REASON:
            yield f"{name_of(path)}:{lines}: longer than {LONGEST_FILE} lines: split it"
        elif lines > LONG_FILE:
            print(f"note: {name_of(path)} has {lines} lines")


def check_headers():
    """Every header guards itself and says first what it is."""
    for path in sources():
        if path.suffix != ".h":
            continue
        text = path.read_text()
        if not text.lstrip().startswith(("//", "/*")):
            yield f"{name_of(path)}:1: the top comment that says what this is is missing"
        if "#pragma once" not in text and not re.search(r"#ifndef \w+_H_?\n#define", text):
            yield f"{name_of(path)}:1: no include guard"


def check_text():
    """Trailing blanks, tabs, TODO without an issue; notes lines past 100 columns."""
    for path in sources(PRODUCT + ("tests",)):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            where = f"{name_of(path)}:{number}"
            if line != line.rstrip():
                yield f"{where}: blanks at the end"
            if "\t" in line:
                yield f"{where}: a tab"
            if len(line) > 100 and "http" not in line:
                print(f"note: {where}: {len(line)} columns")
            if re.search(r"\bTODO\b(?!\(#\d+\))", line):
                yield f"{where}: a TODO without the number of its issue"


def check_shell():
    """Scripts that name bash or sh parse, and stop at the first error."""
    listed = subprocess.run(
        ["git", "-C", SOURCE, "ls-files"], capture_output=True, text=True
    ).stdout.splitlines()
    for name in listed:
        path = SOURCE / name
        if not path.is_file():
            continue
        first = path.read_bytes()[:60].split(b"\n")[0]
        if not first.startswith(b"#!") or not first.split()[-1].endswith((b"bash", b"sh")):
            continue
        shell = "bash" if b"bash" in first else "sh"
        done = subprocess.run([shell, "-n", path], capture_output=True, text=True)
        if done.returncode != 0:
            yield f"{name}:1: {done.stderr.strip()}"
        if not re.search(r"^set -e", path.read_text(), re.MULTILINE):
            yield f"{name}:1: no 'set -e...'"


CHECKS = {name[6:]: f for name, f in list(globals().items()) if name.startswith("check_")}


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in CHECKS:
        sys.exit(f"usage: style.py {'|'.join(CHECKS)}")
    problems = list(CHECKS[sys.argv[1]]())
    print("\n".join(problems))
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
