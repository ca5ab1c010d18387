"""Two threads that want the interpreter lock all the time, and one that waits for an ordinary lock
nearly all the time, until killed; prints "ready"."""

import sys
import threading
import time

lock = threading.Lock()


def spins():
    total = 0
    while True:
        for i in range(1000):
            total += i


def holds_lock():
    while True:
        with lock:
            time.sleep(0.05)


def wants_lock():
    while True:
        with lock:
            pass
        time.sleep(0.001)


for each in (spins, spins, holds_lock, wants_lock):
    threading.Thread(target=each, daemon=True).start()
print("ready", flush=True)
time.sleep(float(sys.argv[1]))
