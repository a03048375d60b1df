#!/usr/bin/python3
"""Shows Seahorse on an X server of its own, chooses a collection, and waits until it lists the items: seahorse.py PICTURE COLLECTION ITEM…
It sees what a screen reader is told, and points as a device does. Fails after $hang_seconds."""
import os, signal, subprocess, sys, time
import gi

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi, GLib

picture, collection, *items = sys.argv[1:]
seconds_max = int(os.environ.get("hang_seconds", 240))
end = time.monotonic() + seconds_max
# Without this a call to a program that is not scheduled for 800 ms is an error.
Atspi.set_timeout(seconds_max * 1000, seconds_max * 1000)


def visible(node=None, depth=0):
    """Every named element on the screen."""
    if node is None:
        desktop = Atspi.get_desktop(0)
        nodes = [desktop.get_child_at_index(i) for i in range(desktop.get_child_count())]
        nodes = [n for n in nodes if n is not None and n.get_name() == "seahorse"]
    else:
        nodes = [node.get_child_at_index(i) for i in range(node.get_child_count())]
    for child in nodes:
        if child is None:
            continue
        if child.get_name() and (depth == 0 or child.get_state_set().contains(Atspi.StateType.SHOWING)):
            yield child
        yield from visible(child, depth + 1)


def awaited(what, found):
    while time.monotonic() < end:
        try:
            result = found()
        except GLib.Error:  # something left the screen meanwhile
            result = None
        if result:
            return result
        # Handles the events that have arrived.
        GLib.MainContext.default().iteration(False)
        time.sleep(0.02)
    print("on the screen:", sorted({node.get_name() for node in visible()}))
    raise SystemExit(f"seahorse does not show {what}")


def named(text):
    return next((node for node in visible() if text in node.get_name().split("\n")), None)


reading, writing = os.pipe()
server = subprocess.Popen(["Xvfb", "-displayfd", str(writing), "-screen", "0", "1000x700x24", "-nolisten", "tcp"], pass_fds=[writing],
                          stderr=subprocess.DEVNULL)
os.close(writing)
os.environ["DISPLAY"] = ":" + os.read(reading, 16).decode().strip()
os.environ.update(GSETTINGS_BACKEND="memory", GDK_BACKEND="x11", GTK_MODULES="gail:atk-bridge")
program = subprocess.Popen(["seahorse"])
try:
    awaited("a window", lambda: named("seahorse"))
    window = awaited("a window", lambda: subprocess.run(["xdotool", "search", "--onlyvisible", "--class", "seahorse"], capture_output=True, text=True).stdout.split())[-1]
    # Its list of collections is beside the items only if the window is wide enough.
    subprocess.run(["xdotool", "windowmove", window, "0", "0", "windowsize", window, "980", "680"], check=True)
    place = awaited(f"the collection {collection}", lambda: named(collection))

    def chosen():
        box = place.get_component_iface().get_extents(Atspi.CoordType.SCREEN)
        subprocess.run(["xdotool", "mousemove", str(box.x + box.width // 2), str(box.y + box.height // 2), "click", "1"], check=True)
        return named(items[0])
    awaited(f"the item {items[0]}", chosen)
    for item in items:
        awaited(f"the item {item}", lambda: named(item))
    subprocess.run(["import", "-window", "root", picture], check=True)
finally:
    for process in (program, server):
        process.send_signal(signal.SIGTERM)
        process.wait()
