"""Prints what this interpreter itself says of the lines of some hundred code objects.

One line per code object, of fields set apart by blanks:
    <first line> <line table in hex, or -> [<byte offset>:<line>:<column> ...]
with one entry per instruction word where line or column differ from the word before; line 0 is
none, columns count from 1 and 0 is unknown. The last entry is the end of the code, "<offset>:end".
"""

import dis
import os
import sys
import types

MODULES = ("argparse ast collections/__init__ contextlib copy dataclasses datetime decimal "
           "difflib enum functools inspect json/decoder os pickle shutil ssl subprocess tarfile "
           "tempfile threading traceback typing urllib/parse asyncio/base_events "
           "_pydecimal").split()


def corner_cases():
    """Steps of more than a byte in both directions, and ranges of more than one entry."""
    yield "x = 1\n" + "\n" * 1000 + "y = 2\n" + "\n" * 100000 + "z = 3\n"
    yield "f(\n" + "\n" * 300 + "a,\n" + "\n" * 127 + "b)\n"
    yield "x = [\n" + ",\n".join("name_%d.attribute" % i for i in range(400)) + "]\n"
    yield "x = (" + " + ".join("f(%d)" % i for i in range(600)) + ")\n"
    yield " ".join(["x = (" + "a" * 90, "+ b" * 60, ")\n"])
    yield "def f():\n  try:\n    with a as b, c as d:\n      yield\n  except E as e:\n    pass\n"
    yield ("async def f():\n  async for x in y:\n    async with z:\n      await w\n"
           "  else:\n    pass\n")
    yield "while a:\n  if b: continue\n  else: break\nassert c, (\n\n  d)\n"
    yield "gr\u00f6\u00dfe = \u95a2\u6570(\u03bb, [\u00e4 for \u00e4 in \u00fc])\n"


def sources():
    library = os.path.dirname(os.__file__)
    for module in MODULES:
        path = os.path.join(library, module + ".py")
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                yield file.read()
    for source in corner_cases():
        yield source


def all_codes(code):
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from all_codes(constant)


def positions(code):
    """(line, column) of each instruction word."""
    words = len(code.co_code) // 2
    if sys.version_info >= (3, 11):
        return [(line or 0, 0 if column is None else column + 1)
                for line, _, column, _ in code.co_positions()]
    if sys.version_info >= (3, 10):
        lines = [0] * words
        for start, end, line in code.co_lines():
            for word in range(start // 2, end // 2):
                lines[word] = line or 0
        return [(line, 0) for line in lines]
    starts = dict(dis.findlinestarts(code))
    lines = []
    line = code.co_firstlineno
    for word in range(words):
        line = starts.get(word * 2, line)
        lines.append(line)
    return [(line, 0) for line in lines]


def describe(code):
    table = code.co_linetable if sys.version_info >= (3, 10) else code.co_lnotab
    parts = [str(code.co_firstlineno), table.hex() or "-"]
    before = None
    pairs = positions(code)
    assert len(pairs) == len(code.co_code) // 2
    for word, pair in enumerate(pairs):
        if pair != before:
            parts.append("%d:%d:%d" % (word * 2, pair[0], pair[1]))
            before = pair
    parts.append("%d:end" % len(code.co_code))
    return " ".join(parts)


def main():
    for source in sources():
        for code in all_codes(compile(source, "x", "exec")):
            print(describe(code))


main()
