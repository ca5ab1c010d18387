"""Nests Python calls in every way that a stack walk must follow, and tells its own stacks.

    nesting.py [--threads N] [--burn SECONDS] [--only KIND[,KIND...]]

Each thread calls itself through all kinds of nesting (see KINDS), then prints one section:

    thread <pthread_self()> <kernel thread id> <number of frames>
    <name> TAB <file> TAB <line>           leaf first; qualified names from 3.11 on

When all threads have printed, "ready" follows. The threads then block in os.read(0) (the GIL is
released) until standard input ends, or with --burn keep the CPU busy in their leaf frame for the
time given. The stacks stay as printed. Runs on CPython 3.8 to 3.14, standard library only.
"""

import argparse
import contextlib
import functools
import operator
import os
import sys
import threading
import time

try:
    import ctypes
except ImportError:  # a minimal installation
    ctypes = None


def call_plainly(inner):
    return inner()


def call_by_keyword(inner):
    return functools.partial(call_plainly, inner=inner)()


def call_from_sorted_key(inner):
    return sorted([1], key=lambda item: inner())


def call_from_reduce(inner):
    def combine(left, right):
        return inner()

    return functools.reduce(combine, [1, 2])


def call_from_map(inner):
    return list(map(lambda item: inner(), [1]))


def call_from_list_comprehension(inner):
    return [
        inner()
        for _ in range(1)
    ]


def call_from_generator_expression(inner):
    return any(inner() for _ in range(1))


def call_from_generator(inner):
    def produce():
        yield 1
        yield inner()

    total = 0
    for _ in produce():
        total += 1
    return total


def call_from_delegating_generators(inner):
    def innermost():
        yield inner()

    def outer():
        yield from innermost()

    return list(outer())


def call_from_coroutine(inner):
    async def work():
        return inner()

    async def run():
        return await work()

    with contextlib.suppress(StopIteration):
        run().send(None)


def call_from_async_generator(inner):
    async def produce():
        yield inner()

    async def run():
        async for _ in produce():
            pass

    with contextlib.suppress(StopIteration):
        run().send(None)


class Item:
    """Enters Python from the interpreter's slots."""

    def __init__(self, inner):
        self.inner = inner

    @property
    def attribute(self):
        return self.inner()

    def __getitem__(self, key):
        return self.inner()

    def __add__(self, other):
        return self.inner()

    def __enter__(self):
        return self

    def __exit__(self, *details):
        self.inner()
        return True

    @classmethod
    def of_class(cls, inner):
        return cls(inner)[0]


def call_from_property(inner):
    return Item(inner).attribute


def call_from_operators(inner):
    return operator.add(Item(lambda: Item.of_class(inner)), 1)


def call_from_exit_of_with(inner):
    with Item(inner):
        raise ValueError("on purpose")


def call_from_constructor(inner):
    class Eager:
        def __init__(self):
            inner()

    return Eager()


def call_from_class_body(inner):
    class Body:
        value = inner()

    return Body


def call_from_decorator(inner):
    def decorate(function):
        inner()
        return function

    @decorate
    def decorated():
        pass

    return decorated


def call_from_exec(inner):
    exec("\n\nresult = (\n    inner())\n", {"inner": inner})


def call_from_eval(inner):
    return eval("[inner() for _ in range(1)]", {"inner": inner})


def call_from_ctypes(inner):
    if ctypes is None:
        return inner()
    callback = ctypes.CFUNCTYPE(ctypes.c_int)(lambda: inner() and 0 or 0)
    return callback()


def call_from_deep_recursion(inner, depth=60):
    if depth:
        return call_from_deep_recursion(inner, depth - 1)
    return inner()


def call_from_exception_handler(inner):
    try:
        raise KeyError("on purpose")
    except KeyError:
        return inner()
    finally:
        pass


def call_from_far_line(inner):
    source = "def far(inner):\n" + "\n" * 700 + "    return inner(\n    )\n" + "\n" * 9
    names = {}
    exec(compile(source, "far.py", "exec"), names)
    return names["far"](inner)


def call_by_names_beyond_ascii(inner):
    """One function and file name in each storage width of str, and one longer than 256 bytes."""
    steps = inner
    for name in ("gr\u00f6\u00dfe", "\u95a2\u6570_\u03bb", "\U00010400\U00010428", "long_" * 70):
        source = "def {0}(inner):\n    return inner()\n".format(name)
        names = {}
        exec(compile(source, "/nowhere/{0}.py".format(name), "exec"), names)
        steps = functools.partial(names[name], steps)
    return steps()


KINDS = {
    function.__name__.replace("call_", "", 1): function
    for function in (
        call_plainly, call_by_keyword, call_from_sorted_key, call_from_reduce, call_from_map,
        call_from_list_comprehension, call_from_generator_expression, call_from_generator,
        call_from_delegating_generators, call_from_coroutine, call_from_async_generator,
        call_from_property, call_from_operators, call_from_exit_of_with, call_from_constructor,
        call_from_class_body, call_from_decorator, call_from_exec, call_from_eval,
        call_from_ctypes, call_from_deep_recursion, call_from_exception_handler,
        call_from_far_line, call_by_names_beyond_ascii,
    )
}


def describe_stack(frame, leaf_line):
    lines = []
    while frame is not None:
        code = frame.f_code
        name = getattr(code, "co_qualname", code.co_name)
        line = frame.f_lineno if lines else leaf_line
        lines.append("{}\t{}\t{}".format(name, code.co_filename, line))
        frame = frame.f_back
    return lines


class Run:
    """What the threads of one run share: the report and the way in which they stay."""

    def __init__(self, threads, burn_seconds):
        self.burn_seconds = burn_seconds
        self.lock = threading.Lock()
        self.missing = threads
        self.all_reported = threading.Event()

    def report(self, frame, leaf_line):
        stack = describe_stack(frame, leaf_line)
        kernel_id = threading.get_native_id()
        head = "thread {} {} {}".format(threading.get_ident(), kernel_id, len(stack))
        with self.lock:
            self.missing -= 1
            if self.missing == 0:
                stack.append("ready")
            text = "\n".join([head] + stack) + "\n"
            sys.stdout.buffer.write(text.encode("utf-8", "replace"))
            sys.stdout.buffer.flush()
            if self.missing == 0:
                self.all_reported.set()
        self.all_reported.wait()

    def block(self):
        frame = sys._getframe()
        return self.report(frame, frame.f_lineno) or os.read(0, 1)

    def burn(self):
        frame = sys._getframe()
        self.report(frame, frame.f_lineno + 2)
        end = time.monotonic() + self.burn_seconds
        while time.monotonic() < end: pass

    def leaf(self):
        return self.burn() if self.burn_seconds else self.block()


def nest(kinds, leaf):
    """Calls the leaf through every kind, outermost first."""
    inner = leaf
    for kind in reversed(kinds):
        inner = functools.partial(KINDS[kind], inner)
    return inner()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--burn", type=float, default=0)
    parser.add_argument("--only", default=",".join(KINDS))
    options = parser.parse_args()
    run = Run(options.threads, options.burn)
    kinds = options.only.split(",")
    others = [
        threading.Thread(target=nest, args=(kinds, run.leaf), daemon=True)
        for _ in range(options.threads - 1)
    ]
    for thread in others:
        thread.start()
    nest(kinds, run.leaf)
    for thread in others:
        thread.join()


if __name__ == "__main__":
    main()
