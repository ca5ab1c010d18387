"""Reads pprof profiles (profile.proto, gzip or plain) with the standard library alone.

Written apart from Lumbre's own writer, so that the two check each other.
"""

import gzip
from dataclasses import dataclass, field


def _varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def _signed(value):
    return value - (1 << 64) if value >= 1 << 63 else value


def _fields(data):
    """Yields (number, value); a value is an int or bytes."""
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        if tag & 7 == 0:
            value, at = _varint(data, at)
        elif tag & 7 == 2:
            size, at = _varint(data, at)
            value, at = data[at : at + size], at + size
        else:
            raise ValueError(f"profile.proto has no field of wire type {tag & 7}")
        yield tag >> 3, value


def _message(data, repeated=()):
    out = {number: [] for number in repeated}
    for number, value in _fields(data):
        if number in repeated:
            out[number].append(value)
        else:
            out[number] = value
    return out


def _numbers(values):
    """A repeated integer field, packed or not."""
    out = []
    for value in values:
        if isinstance(value, int):
            out.append(value)
            continue
        at = 0
        while at < len(value):
            number, at = _varint(value, at)
            out.append(number)
    return out


@dataclass(frozen=True)
class Frame:
    name: str
    file: str = ""
    line: int = 0
    module: str = ""  # the mapping's file
    system_name: str = ""
    inlined: bool = False


@dataclass
class Sample:
    frames: list  # root first
    values: list
    labels: dict


@dataclass
class Profile:
    sample_types: list = field(default_factory=list)  # (type, unit)
    samples: list = field(default_factory=list)
    mappings: list = field(default_factory=list)  # (file, build id)
    comments: list = field(default_factory=list)
    default_sample_type: str = ""
    period: int = 0
    time_nanos: int = 0
    duration_nanos: int = 0

    def index(self, sample_type):
        return [name for name, _ in self.sample_types].index(sample_type)

    def total(self, sample_type):
        index = self.index(sample_type)
        return sum(sample.values[index] for sample in self.samples)


def _read_tables(top, text):
    functions = {}
    for entry in (_message(raw) for raw in top[5]):
        functions[entry[1]] = tuple(text(entry.get(n, 0)) for n in (2, 3, 4))
    mappings = {}
    for entry in (_message(raw) for raw in top[3]):
        mappings[entry[1]] = text(entry.get(5, 0)), text(entry.get(6, 0))
    locations = {}
    for entry in (_message(raw, repeated=(4,)) for raw in top[4]):
        module = mappings[entry[2]][0] if entry.get(2) else ""
        lines = [_message(raw) for raw in entry[4]] or [{}]
        frames = []
        for i, line in enumerate(lines):  # innermost inlined function first
            name, system_name, file = functions.get(line.get(1), ("", "", ""))
            inlined = i + 1 < len(lines)
            frames.append(Frame(name, file, _signed(line.get(2, 0)), module, system_name, inlined))
        locations[entry[1]] = frames
    return locations, list(mappings.values())


def _read_label(raw, text):
    entry = _message(raw)
    value = text(entry[2]) if entry.get(2) else _signed(entry.get(3, 0))
    return text(entry.get(1, 0)), value


def parse(data):
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    top = _message(data, repeated=(1, 2, 3, 4, 5, 6, 13))
    strings = [raw.decode("utf-8", "strict") for raw in top[6]]

    def text(index):
        return strings[index]

    profile = Profile()
    profile.sample_types = [
        (text(entry.get(1, 0)), text(entry.get(2, 0))) for entry in map(_message, top[1])
    ]
    locations, profile.mappings = _read_tables(top, text)
    for entry in (_message(raw, repeated=(1, 2, 3)) for raw in top[2]):
        leaf_first = [f for location in _numbers(entry[1]) for f in locations[location]]
        values = [_signed(value) for value in _numbers(entry[2])]
        labels = dict(_read_label(raw, text) for raw in entry[3])
        profile.samples.append(Sample(leaf_first[::-1], values, labels))
    profile.comments = [text(index) for index in _numbers(top[13])]
    profile.default_sample_type = text(top.get(14, 0))
    profile.time_nanos = _signed(top.get(9, 0))
    profile.duration_nanos = _signed(top.get(10, 0))
    profile.period = _signed(top.get(12, 0))
    return profile


def read(path):
    with open(path, "rb") as file:
        return parse(file.read())
