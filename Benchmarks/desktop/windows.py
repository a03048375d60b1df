#!/usr/bin/python3
"""Measures windows on a display of their own: how long each takes to appear, with its files read from the disk and again, the processor time
of that and what its process has in memory, and how long the desktop application takes to show what is found. Other load makes the times longer,
but hardly the processor times.

    windows.py ROUNDS NAME=COMMAND...   the one called Vauban is the desktop application
"""
import contextlib
import ctypes
import os
import signal
import statistics
import subprocess
import sys
import time

import gi

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi  # noqa: E402

X = ctypes.CDLL("libX11.so.6")
XTEST = ctypes.CDLL("libXtst.so.6")
X.XOpenDisplay.restype = ctypes.c_void_p
X.XDefaultRootWindow.argtypes = X.XConnectionNumber.argtypes = X.XPending.argtypes = X.XFlush.argtypes = [ctypes.c_void_p]
X.XDefaultRootWindow.restype = X.XStringToKeysym.restype = ctypes.c_ulong
X.XSelectInput.argtypes = [ctypes.c_void_p, ctypes.c_ulong, ctypes.c_long]
X.XNextEvent.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
X.XSetInputFocus.argtypes = [ctypes.c_void_p, ctypes.c_ulong, ctypes.c_int, ctypes.c_ulong]
X.XKeysymToKeycode.argtypes = [ctypes.c_void_p, ctypes.c_ulong]
X.XKeysymToKeycode.restype = ctypes.c_ubyte
XTEST.XTestFakeKeyEvent.argtypes = [ctypes.c_void_p, ctypes.c_uint, ctypes.c_int, ctypes.c_ulong]
SUBSTRUCTURE, MAPPED = 1 << 19, 19


class Display:
    def __init__(self):
        self.display = X.XOpenDisplay(None)
        X.XSelectInput(self.display, X.XDefaultRootWindow(self.display), SUBSTRUCTURE)
        X.XFlush(self.display)

    def next_window(self):
        """Waits until a window appears."""
        event = ctypes.create_string_buffer(192)
        while True:
            X.XNextEvent(self.display, event)
            if int.from_bytes(event[0:4], "little") == MAPPED:
                return int.from_bytes(event[40:48], "little")

    def focus(self, window):
        X.XSetInputFocus(self.display, window, 1, 0)
        X.XFlush(self.display)

    def key(self, name, modifier=None):
        codes = [X.XKeysymToKeycode(self.display, X.XStringToKeysym(one.encode())) for one in (modifier, name) if one]
        for code, pressed in [(code, 1) for code in codes] + [(code, 0) for code in reversed(codes)]:
            XTEST.XTestFakeKeyEvent(self.display, code, pressed, 0)
        X.XFlush(self.display)


@contextlib.contextmanager
def running(display, command, **settings):
    """A program, its window, and the seconds until that appeared."""
    start = time.perf_counter()
    process = subprocess.Popen(command, env=dict(os.environ, **settings), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        window = display.next_window()
        yield process, window, time.perf_counter() - start
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def files(process):
    with open(f"/proc/{process.pid}/maps") as maps:
        return {line.split()[5] for line in maps if len(line.split()) == 6 and line.split()[5].startswith("/")}


def forget(paths):
    """Gives the files' pages back, but for those that another process has mapped."""
    for path in paths:
        with contextlib.suppress(OSError), open(path, "rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def mebibytes(process):
    """What the process has in memory; and of it what is neither a file nor shared."""
    with open(f"/proc/{process.pid}/status") as status:
        sizes = {name: int(value.split()[0]) / 1024 for name, _, value in (line.partition(":") for line in status) if name.startswith(("VmRSS", "RssAnon"))}
    return sizes["VmRSS"], sizes["RssAnon"]


def processor(process):
    """The processor time of all threads so far, in seconds."""
    total = 0
    for task in os.listdir(f"/proc/{process.pid}/task"):
        with contextlib.suppress(OSError), open(f"/proc/{process.pid}/task/{task}/schedstat") as times:
            total += int(times.read().split()[0])
    return total / 1e9


def windows(display, rounds, programs):
    print(f"{'window':<12}{'cold, ms':>12}{'again, ms':>12}{'processor':>12}{'memory, MiB':>14}{'of it its own':>15}")
    mapped, cold, again, busy, memory = {}, {}, {}, {}, {}
    # Without a graphics processor, GTK's own choice would be a slow one; the application makes this one itself.
    quiet = {"GTK_A11Y": "none", "NO_AT_BRIDGE": "1", "GSK_RENDERER": "cairo"}
    for number in range(-1, rounds):
        for name, command in programs.items():
            if number >= 0:
                forget(mapped[name])
                with running(display, command, **quiet) as (_, _, seconds):
                    cold.setdefault(name, []).append(seconds)
            with running(display, command, **quiet) as (process, _, seconds):
                used = processor(process)
                mapped[name] = files(process)
                if number >= 0:
                    again.setdefault(name, []).append(seconds)
                    busy.setdefault(name, []).append(used)
                    memory.setdefault(name, []).append(mebibytes(process))
    for name in programs:
        whole, own = (statistics.median(values) for values in zip(*memory[name]))
        first, second = statistics.median(cold[name]) * 1000, statistics.median(again[name]) * 1000
        used = statistics.median(busy[name]) * 1000
        print(f"{name:<12}{first:>12.0f}{second:>12.0f}{used:>12.0f}{whole:>14.0f}{own:>15.0f}")


def labels(process):
    """What a screen reader is told of the process's texts."""
    desktop = Atspi.get_desktop(0)
    desktop.clear_cache()
    parts = [part for part in (desktop.get_child_at_index(index) for index in range(desktop.get_child_count())) if part and part.get_process_id() == process.pid]
    while parts:
        part = parts.pop()
        part.clear_cache()
        if part.get_role() == Atspi.Role.LABEL:
            yield part
        # The rows of the list are many.
        if part.get_role() != Atspi.Role.LIST_ITEM:
            parts.extend(child for child in (part.get_child_at_index(index) for index in range(part.get_child_count())) if child)


def text(part):
    part.clear_cache()
    return part.get_name() or ""


def search(display, command, rounds):
    """From a key to the first hits, which the line below the list tells, and to the end of the search."""
    start = time.perf_counter()
    with running(display, command, GTK_A11Y="atspi") as (process, window, _):
        count = None
        while count is None:
            count = next((part for part in labels(process) if text(part).endswith((" items", " so far", "Reading…"))), None)
        while not text(count).endswith(" items"):
            pass
        print(f"\nthe list is whole after {(time.perf_counter() - start) * 1000:.0f} ms, {processor(process) * 1000:.0f} of the processor: {text(count)}; memory {mebibytes(process)[0]:.0f} MiB")
        display.focus(window)
        display.key("f", "Control_L")
        first, last, busy = [], [], []
        for number in range(rounds):
            for key in "987":
                before = text(count)
                start, used = time.perf_counter(), processor(process)
                display.key(key)
                while text(count) == before:
                    pass
                busy.append(processor(process) - used)
                first.append(time.perf_counter() - start)
                while not text(count).endswith((" items", " item", "found")):
                    pass
                last.append(time.perf_counter() - start)
            before = text(count)
            display.key("a", "Control_L")
            display.key("Delete")
            while text(count) == before or not text(count).endswith(" items"):
                pass
        for name, values in ("first hits", first), ("processor time until then", busy), ("all hits", last):
            values = sorted(value * 1000 for value in values)
            print(f"{name}, from a key on: {statistics.median(values):.0f} ms, of {len(values)} at most {values[-1]:.0f} ms")


rounds = int(sys.argv[1])
programs = {name: command.split() for name, _, command in (word.partition("=") for word in sys.argv[2:])}
display = Display()
Atspi.set_timeout(240_000, 240_000)
windows(display, rounds, programs)
search(display, programs["Vauban"], rounds)
