#!/usr/bin/python3
"""Plays a user at the desktop application's window: the steps of desktop.py, on a larger screen, but for `says`, and besides

    start [NAME=VALUE...] [OPTION...]   starts the application, and waits for its window
    click NAME                          with the pointer, on the button, choice or row whose name begins so
    press NAME                          the button of this name, as a screen reader does, wherever it is on the page
    beside SHEET                        starts the sheet beside the application
    turn                                what follows is about the sheet's window, and after another `turn` about the application's again
    rows MOST                           waits until a screen reader is told of rows, of which there must be no more than this many
    ends STATUS                         waits until the application has ended with this status
    named                               waits until each part that takes the keyboard has a name for screen readers
    fits                                waits until the window is no larger than the screen, and nothing in it wider than the window

The screen is as large as $played_screen says, and $GDK_SCALE is the scale of the windows.
"""
import os
import subprocess
import sys

sys.dont_write_bytecode = True
import desktop  # noqa: E402
from desktop import Atspi, Fault, GLib, seconds_max, sheet_program  # noqa: E402


class Application:
    """The steps that are the same on every display."""

    verbs = ["rows", "ends", "named", "press", "beside", "turn"]
    other = None

    def start(self, words):
        environment = dict(os.environ, GTK_A11Y="atspi", DBUS_SYSTEM_BUS_ADDRESS="unix:path=/nonexistent")
        settings = [word for word in words.split() if "=" in word]
        environment.update(word.split("=", 1) for word in settings)
        self.sheet = subprocess.Popen([sheet_program, *(word for word in words.split() if word not in settings)], env=environment)
        self.appears()

    def press(self, name):
        def find():
            found = [part for part, role, words, states in self.parts() if words[:1] == [name] and "button" in role and states.contains(Atspi.StateType.SENSITIVE)]
            return found[0] if found else None

        button = self.until(f"there is no button {name}", find)
        if not Atspi.Action.do_action(button, 0):
            raise Fault(f"it cannot be pressed: {name}")

    def beside(self, program):
        own = self.sheet, self.title
        self.sheet = subprocess.Popen([program], env=dict(os.environ, GTK_A11Y="atspi", DBUS_SYSTEM_BUS_ADDRESS="unix:path=/nonexistent"), stderr=subprocess.PIPE)
        self.unread = b""
        self.says("Prompts appear here")
        self.other = self.sheet, "Vauban"
        self.sheet, self.title = own

    def turn(self, _):
        self.other, (self.sheet, self.title) = (self.sheet, self.title), self.other

    def end(self):
        if self.other:
            self.other[0].kill()
            self.other[0].wait()
        super().end()

    def appears(self):
        self.until("there is no window", self.window)

    def rows(self, most):
        number = self.until("there are no rows", lambda: sum(1 for _, role, _, _ in self.parts() if role == "list item"))
        if number > int(most):
            raise Fault(f"there are {number} rows")

    def named(self, _):
        self.until(lambda: f"without a name: {self.nameless()}", lambda: self.nameless() == [])

    def nameless(self):
        """The roles of the parts that take the keyboard and have no name; None if no part takes it. What only scrolls needs no name."""
        reached = [
            (part, role) for part, role, _, states in self.parts()
            if states.contains(Atspi.StateType.FOCUSABLE) and role != "scroll pane"]
        try:
            return [role for part, role in reached if not part.get_name()] if reached else None
        except GLib.Error:
            return None  # One went while it was looked at.

    def ends(self, status):
        ended = self.sheet.wait(timeout=seconds_max)
        if ended != int(status):
            raise Fault(f"it ended with {ended}")


class Window(Application, desktop.Desktop):
    screen = os.environ.get("played_screen", "1120x760")
    title = "Keychain"
    verbs = [verb for verb in desktop.Desktop.verbs if verb != "says"] + Application.verbs + ["fits"]
    kinds = ("button", "check", "radio", "list item")

    def appears(self):
        # Keeps one connection open until there is another: the server ends with its last client.
        try:
            subprocess.run(["xdotool", "search", "--sync", "--onlyvisible", "--name", f"^{self.title}$"], timeout=seconds_max, stdout=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            raise Fault("there is no window") from None

    def click(self, name):
        window = self.at_window()

        def find():
            found = [part for part in self.parts() if self.can_be_clicked(*part[1:]) and part[2][0].startswith(name)]
            # A complete name before one that only begins with it.
            found.sort(key=lambda part: part[2][0] != name)
            return found[0][0] if found else None

        part = self.until(f"there is nothing to click at: {name}", find)
        place = Atspi.Component.get_extents(part, Atspi.CoordType.WINDOW)
        self.point(window, place)

    def fits(self, _):
        self.until(lambda: f"it does not fit: {self.misfit()}", lambda: self.misfit() is None)

    def misfit(self):
        """The elements that are too large; None if there are none."""
        window = self.window()
        if not window:
            return "there is no window"
        shell = subprocess.run(["xdotool", "getwindowgeometry", "--shell", window], capture_output=True, text=True).stdout
        values = dict(line.split("=", 1) for line in shell.split())
        if "WIDTH" not in values:
            return "the window is gone"
        x, y, width, height = (int(values[name]) for name in ("X", "Y", "WIDTH", "HEIGHT"))
        screen = [int(number) for number in self.screen.split("x")]
        if x < 0 or y < 0 or x + width > screen[0] or y + height > screen[1]:
            return f"the window, {width} by {height} at {x}, {y}"
        for part, role, words, states in self.parts():
            if not states.contains(Atspi.StateType.SHOWING):
                continue  # A hidden scroll bar keeps the place that it had.
            try:
                place = Atspi.Component.get_extents(part, Atspi.CoordType.WINDOW)
            except (GLib.Error, TypeError):
                continue  # It went while it was looked at, or has no place.
            if place.width > 0 and (place.x < 0 or (place.x + place.width) * self.scale > width):
                return f"{role} {words}, from {place.x} to {place.x + place.width}, in {width // self.scale}"
        return None

    def can_be_clicked(self, role, words, states):
        return words and any(kind in role for kind in self.kinds) and states.contains(Atspi.StateType.SENSITIVE)


if __name__ == "__main__":
    desktop.play(Window)
