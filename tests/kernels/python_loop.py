"""Burns CPU in two nested Python functions for the seconds given."""

import sys
import time


def inner(until):
    total = 0
    while time.monotonic() < until:
        for i in range(20000):
            total += i * i
    return total


def outer(until):
    return inner(until) + 1


print("ready", flush=True)
outer(time.monotonic() + float(sys.argv[1]))
