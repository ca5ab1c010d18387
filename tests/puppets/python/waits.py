"""Threads that wait, each in a known way nearly all the time, until killed; prints "ready"."""

import os
import queue
import select
import socket
import subprocess
import sys
import threading
import time

PERIOD = 0.02


def feed(give):
    while True:
        time.sleep(PERIOD)
        give()


def waits_sleep():
    while True:
        time.sleep(PERIOD)


def waits_futex():
    items = queue.Queue()
    start(feed, lambda: items.put(1))
    while True:
        items.get()


def waits_pipe():
    reader, writer = os.pipe()
    start(feed, lambda: os.write(writer, b"x"))
    while True:
        os.read(reader, 1)


def waits_net():
    reader, writer = socket.socketpair()
    start(feed, lambda: writer.send(b"x"))
    while True:
        reader.recv(1)


def waits_net_timeout():
    reader, writer = socket.socketpair()
    reader.settimeout(5)
    start(feed, lambda: writer.send(b"x"))
    while True:
        reader.recv(1)


def waits_epoll():
    poller = select.epoll()
    reader, writer = os.pipe()
    poller.register(reader, select.EPOLLIN)
    start(feed, lambda: os.write(writer, b"x"))
    while True:
        poller.poll()
        os.read(reader, 1)


def waits_child():
    while True:
        subprocess.run(["sleep", "0.1"], check=True)


def waits_forever():
    threading.Event().wait()


def start(function, *arguments):
    threading.Thread(target=function, args=arguments, daemon=True).start()


for each in (waits_sleep, waits_futex, waits_pipe, waits_net, waits_net_timeout, waits_epoll,
             waits_child, waits_forever):
    start(each)
print("ready", flush=True)
time.sleep(float(sys.argv[1]))
