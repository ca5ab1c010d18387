"""Decodes a Perfetto trace with Perfetto's own message classes (PyPI: perfetto) and prints a row
per sample: time cpu/pid/tid count: root;...;leaf. Ends with status 1 on a broken rule."""
import sys

from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as schema

trace = schema.Trace()
with open(sys.argv[1], "rb") as file:
    trace.ParseFromString(file.read())

names, frames, stacks = {}, {}, {}
last_time = 0
for packet in trace.packet:
    if packet.timestamp < last_time or packet.trusted_packet_sequence_id != 1:
        sys.exit("packets out of order or on another sequence")
    last_time = packet.timestamp
    names.update((item.iid, item.str.decode()) for item in packet.interned_data.function_names)
    frames.update((item.iid, item) for item in packet.interned_data.frames)
    stacks.update((item.iid, item) for item in packet.interned_data.callstacks)
    if not packet.HasField("perf_sample"):
        continue
    sample = packet.perf_sample
    frame_ids = stacks[sample.callstack_iid].frame_ids
    stack = ";".join(names[frames[iid].function_name_id] for iid in frame_ids)
    thread = f"{sample.cpu}/{sample.pid}/{sample.tid}"
    print(f"{packet.timestamp} {thread} {sample.timebase_count}: {stack}")
