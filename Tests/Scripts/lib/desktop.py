#!/usr/bin/python3
"""Simulates a user at a desktop: a separate X server without a window manager, the sheet on it, and steps from standard input that check,
type and click. It reads the screen as a screen reader does, and types and points as devices do.

    desktop.py SHEET SHOTS      creates a separate session

    start [NAME=VALUE...]       starts the sheet, and waits until it reports that prompts appear here
    says TEXT                   waits until the sheet has written a line with this text
    kill                        ends the sheet at once, as a crash would
    sees TEXT                   waits until a visible element of the window has this text
    hides TEXT                  waits until no visible element has it, or the window is closed
    counts SECONDS TEXT         waits until the time after this text, as M:SS, has decreased by so much
    gone                        waits until there is no window
    focus NAME                  waits until this has the keyboard
    accepts                     waits until the window accepts what is typed: not while it may be meant for the window before it
    type TEXT, key NAME         with the keyboard, once the window accepts it; Escape at once
    click NAME                  with the pointer, on the button of this name
    shot NAME                   a picture of the screen when it stands still, into SHOTS/NAME.png; snap NAME: of what it is now
    tree                        prints the elements that a screen reader gets
    first [TEXT]                asks for the first window, as a screen reader does that has not heard that it closed; no part of it may have TEXT
    forgot TEXT                 as root, waits until the text is not in the sheet's memory
    run COMMAND                 runs a command, which must succeed

A step that fails or takes longer than $hang_seconds ends it with 1 and a picture of the screen.
"""
import os
import re
import select
import signal
import subprocess
import sys
import time

# Before a session bus exists, which would inherit blocked signals and then never end.
if "VAUBAN_PLAYED_SESSION" not in os.environ:
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    os.execvpe("dbus-run-session", ["dbus-run-session", "--", *sys.argv], dict(os.environ, VAUBAN_PLAYED_SESSION="1"))

import gi  # noqa: E402

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi, Gio, GLib  # noqa: E402

sheet_program, shots = sys.argv[1:3]
# Only ends a test that hangs: the test waits for an event, however long a loaded machine takes.
seconds_max = int(os.environ.get("hang_seconds", 240))
# Without this a call to a program that is not scheduled for 800 ms is an error.
Atspi.set_timeout(seconds_max * 1000, seconds_max * 1000)


class Fault(Exception):
    pass


class Desktop:
    screen = "640x800"
    title = "Vauban"
    # A screen reader gets positions in the window's units, and the pointer moves in those of the screen.
    scale = int(os.environ.get("GDK_SCALE", "1"))
    verbs = "start says kill sees hides counts gone focus accepts type key click shot snap first forgot tree run".split()

    def __init__(self):
        self.sheet = None
        self.begin()

    def begin(self):
        """The display."""
        read, write = os.pipe()
        self.server = subprocess.Popen(
            # Ends with its last client, so that it never outlives the test.
            # A key does not repeat itself, however late its release comes.
            ["Xvfb", "-terminate", "-displayfd", str(write), "-screen", "0", self.screen + "x24", "-nolisten", "tcp", "-ardelay", "60000"],
            pass_fds=[write], stderr=subprocess.DEVNULL)
        os.close(write)
        number = os.fdopen(read).readline().strip()
        if not number:
            raise Fault("Xvfb does not start")
        os.environ["DISPLAY"] = ":" + number
        # Visible content behind the window.
        subprocess.run(["display", "-window", "root", "-size", self.screen, "xc:#5e6b7d"], check=False)

    def end(self):
        self.end_accessibility()
        for process in (self.sheet, self.server):
            if process and process.poll() is None:
                process.kill()
                process.wait()

    @staticmethod
    def end_accessibility():
        """The bus of screen readers would outlive the session for which it was started."""

        try:
            process = Desktop.process(Desktop.accessibility_bus(5), "org.freedesktop.DBus")
        except GLib.Error:
            return  # Nobody asked for that bus.
        if process:
            os.kill(process, signal.SIGTERM)

    @staticmethod
    def ask(bus, name, path, interface, method, words, kind, seconds=seconds_max):
        flags = Gio.DBusCallFlags.NO_AUTO_START
        return bus.call_sync(name, path, interface, method, words, GLib.VariantType(kind), flags, seconds * 1000, None).unpack()[0]

    @staticmethod
    def accessibility_bus(seconds=seconds_max):
        session = Gio.bus_get_sync(Gio.BusType.SESSION, None)
        address = Desktop.ask(session, "org.a11y.Bus", "/org/a11y/bus", "org.a11y.Bus", "GetAddress", None, "(s)", seconds)
        flags = Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION
        bus = Gio.DBusConnection.new_for_address_sync(address, flags, None, None)
        bus.set_exit_on_close(False)
        return bus

    def first(self, text):
        bus = self.accessibility_bus()
        owner = next((owner for owner in self.connections(bus) if self.process(bus, owner) == self.sheet.pid), None)
        if not owner:
            raise Fault("the process is not on the accessibility bus")
        interface = "org.a11y.atspi.Accessible"
        try:
            words = GLib.Variant("(i)", (0,))
            waiting, names = [Desktop.ask(bus, owner, "/org/a11y/atspi/accessible/root", interface, "GetChildAtIndex", words, "((so))")], []
            while waiting:
                _, path = waiting.pop()
                waiting += Desktop.ask(bus, owner, path, interface, "GetChildren", None, "(a(so))")
                words = GLib.Variant("(ss)", (interface, "Name"))
                names.append(Desktop.ask(bus, owner, path, "org.freedesktop.DBus.Properties", "Get", words, "(v)"))
        except GLib.Error as error:
            raise Fault(f"it did not return its first window: {error.message}")
        found = [name for name in names if text and text in name]
        if found:
            raise Fault(f"the hidden window still has: {found}")

    @staticmethod
    def connections(bus):
        name = "org.freedesktop.DBus"
        return [owner for owner in Desktop.ask(bus, name, "/org/freedesktop/DBus", name, "ListNames", None, "(as)") if owner.startswith(":")]

    @staticmethod
    def process(bus, owner):
        """The number of the process of a connection; None if it has ended."""
        name = "org.freedesktop.DBus"
        try:
            return Desktop.ask(bus, name, "/org/freedesktop/DBus", name, "GetConnectionUnixProcessID", GLib.Variant("(s)", (owner,)), "(u)")
        except GLib.Error:
            return None

    # The sheet.

    def start(self, words):
        # This machine's login manager has no session for the simulated desktop.
        environment = dict(os.environ, GTK_A11Y="atspi", DBUS_SYSTEM_BUS_ADDRESS="unix:path=/nonexistent")
        environment.update(word.split("=", 1) for word in words.split())
        self.sheet = subprocess.Popen([sheet_program], env=environment, stderr=subprocess.PIPE)
        self.unread = b""
        self.says("Prompts appear here")

    def says(self, text):
        end = time.monotonic() + seconds_max
        while True:
            while b"\n" in self.unread:
                line, _, self.unread = self.unread.partition(b"\n")
                if text in line.decode():
                    return
                print("    " + line.decode(), flush=True)
            if not select.select([self.sheet.stderr], [], [], max(0, end - time.monotonic()))[0]:
                raise Fault(f"the sheet did not say: {text}")
            more = os.read(self.sheet.stderr.fileno(), 4096)
            if not more:
                raise Fault(f"the sheet ended with {self.sheet.wait()}")
            self.unread += more

    def kill(self, _):
        self.sheet.kill()
        self.sheet.wait()

    # Elements on the screen.

    def window(self):
        found = subprocess.run(["xdotool", "search", "--onlyvisible", "--name", f"^{self.title}$"], capture_output=True, text=True).stdout.split()
        return found[0] if found else None

    def parts(self):
        """Everything visible in the sheet's window, as a screen reader gets it."""
        desktop = Atspi.get_desktop(0)
        desktop.clear_cache()
        waiting = []
        for index in range(desktop.get_child_count()):
            application = desktop.get_child_at_index(index)
            if application and application.get_process_id() == self.sheet.pid:
                waiting.append(application)
        while waiting:
            part = waiting.pop()
            try:
                part.clear_cache()
                states = part.get_state_set()
                children = [part.get_child_at_index(index) for index in range(part.get_child_count())]
                if states.contains(Atspi.StateType.VISIBLE) or part.get_role() == Atspi.Role.APPLICATION:
                    waiting.extend(child for child in reversed(children) if child)
                    yield part, part.get_role_name(), self.words(part), states
            except gi.repository.GLib.Error:
                continue  # It went while it was looked at.

    @staticmethod
    def words(part):
        words = [part.get_name() or "", part.get_description() or ""]
        return [word for word in words if word]

    def all_words(self):
        return [word for _, _, words, _ in self.parts() for word in words] if self.window() else []

    def until(self, what, condition):
        end = time.monotonic() + seconds_max
        while time.monotonic() < end:
            found = condition()
            if found:
                return found
            if self.sheet.poll() is not None:
                if self.sheet.stderr:
                    print((self.unread + self.sheet.stderr.read()).decode(), flush=True)
                raise Fault(f"the process ended with {self.sheet.returncode}: {what() if callable(what) else what}")
        self.tree("")
        raise Fault(what() if callable(what) else what)

    def sees(self, text):
        self.until(f"it is not to be seen: {text}", lambda: any(text in words for words in self.all_words()))

    def hides(self, text):
        self.until(f"it is still to be seen: {text}", lambda: not any(text in words for words in self.all_words()))

    def counts(self, words):
        seconds, text = words.split(" ", 1)

        def left():
            found = [re.search(re.escape(text) + r" (\d+):(\d\d)", shown) for shown in self.all_words()]
            return next((int(time[1]) * 60 + int(time[2]) for time in found if time), None)

        first = self.until(f"there is no time to be seen: {text}", left)
        self.until(f"it does not count down: {text}", lambda: (left() or first) <= first - int(seconds))

    def gone(self, _):
        self.until("the window is still there", lambda: self.window() is None)

    def focus(self, name):
        self.until(
            f"the keyboard is not at {name}",
            lambda: any(name in words and states.contains(Atspi.StateType.FOCUSED) for _, _, words, states in self.parts()))

    def tree(self, _):
        print("    window:", self.window())
        for part, role, words, states in self.parts():
            marks = [mark for mark in ("FOCUSED", "SENSITIVE", "CHECKED") if states.contains(getattr(Atspi.StateType, mark))]
            print(f"    {role}: {words} {' '.join(marks)}", flush=True)

    def accepts(self, _=""):
        self.until("the window accepts nothing that is typed", lambda: not self.is_busy())

    def is_busy(self):
        """Whether the window is busy, as the sheet is until the user pauses; also if there is none."""
        window = next((states for _, role, _, states in self.parts() if role != "application"), None)
        return window is None or window.contains(Atspi.StateType.BUSY)

    # Actions of the user.

    def at_window(self):
        window = self.until("there is no window", self.window)
        # Without a window manager the window does not get the keyboard by itself.
        subprocess.run(["xdotool", "windowfocus", "--sync", window], check=True, stderr=subprocess.DEVNULL)
        return window

    def type(self, text):
        self.at_window()
        self.accepts()
        subprocess.run(["xdotool", "type", "--", text], check=True)

    def key(self, name):
        self.at_window()
        if name != "Escape":
            self.accepts()
        subprocess.run(["xdotool", "key", name], check=True)

    def click(self, name):
        window = self.at_window()

        def find():
            for part, role, words, states in self.parts():
                if words[:1] == [name] and "button" in role and states.contains(Atspi.StateType.SENSITIVE):
                    return part
            return None

        component = self.until(f"there is no button {name}", find)
        place = Atspi.Component.get_extents(component, Atspi.CoordType.WINDOW)
        self.point(window, place)

    def point(self, window, place):
        """Clicks on the middle of a place in a window."""
        x, y = ((place.x + place.width // 2) * self.scale, (place.y + place.height // 2) * self.scale)
        subprocess.run(["xdotool", "mousemove", "--window", window, str(x), str(y), "click", "1"], check=True)

    def picture(self):
        """A picture of the screen: the PNG, and data that is equal for equal pictures."""
        picture = subprocess.run(["import", "-window", "root", "png:-"], check=True, capture_output=True).stdout
        return picture, subprocess.run(["convert", "png:-", "rgb:-"], input=picture, check=True, capture_output=True).stdout

    def shot(self, name):
        # The screen is drawn a moment after the screen reader gets a change: a picture is valid when the next one is the same.
        before = None
        for _ in range(20):
            picture, pixels = self.picture()
            if pixels == before:
                break
            before = pixels
        with open(f"{shots}/{name}.png", "wb") as file:
            file.write(picture)

    def snap(self, name):
        with open(f"{shots}/{name}.png", "wb") as file:
            file.write(self.picture()[0])

    def forgot(self, text):
        if os.geteuid() == 0:
            self.until(lambda: f"it is still in memory, {self.remainder(text)}", lambda: not self.remainder(text))

    def remainder(self, text):
        """The place of a text in the sheet's memory; None if it is not there."""
        needles = [text.encode(), "".join(f"{sign}\0" for sign in text).encode(), text.encode("utf-32-le")]
        with open(f"/proc/{self.sheet.pid}/maps") as maps, open(f"/proc/{self.sheet.pid}/mem", "rb", 0) as memory:
            for line in maps:
                words = line.split()
                start, end = (int(number, 16) for number in words[0].split("-"))
                if "r" not in words[1] or line.endswith(("[vvar]\n", "[vsyscall]\n")):
                    continue
                memory.seek(start)
                try:
                    found = memory.read(end - start)
                except OSError:
                    continue
                for needle in needles:
                    if needle in found:
                        return f"as {needle!r} in {line.strip()}, {end - start - found.index(needle)} bytes from its end"
        return None

    def run(self, command):
        try:
            ended = subprocess.run(["bash", "-c", command], timeout=seconds_max).returncode
        except subprocess.TimeoutExpired:
            raise Fault(f"it did not end in {seconds_max} s: {command}") from None
        if ended != 0:
            raise Fault(f"it failed: {command}")


def play(make):
    """Reads the steps, and performs them at the desktop that `make` creates."""
    desktop = make()
    try:
        for line in sys.stdin:
            verb, _, rest = line.strip().partition(" ")
            if not verb:
                continue
            if verb not in desktop.verbs:
                raise Fault(f"unknown step: {line.strip()}")
            getattr(desktop, verb)(rest)
            print(f"ok: {line.strip()}", flush=True)
    except Fault as fault:
        print(f"FAILED: {fault}", flush=True)
        # A desktop whose last window has crashed may have ended with it.
        if desktop.server.poll() is None:
            desktop.shot("failed")
        sys.exit(1)
    finally:
        desktop.end()


if __name__ == "__main__":
    play(Desktop)
