#!/usr/bin/python3
"""Plays a user at a Wayland desktop: sway, compositor and window manager in one, on an output that exists in memory only, with the
settings that it has by itself. The steps are those of desktop.py but for the pointer and keys that are held, which nobody has here, and besides

    stands WORD...              waits until the window is all of these: focused or unfocused, floating or tiled, urgent or calm,
                                shown or behind (another workspace, or a window on the whole output), native (a Wayland client that calls
                                itself vauban-sheet and its window Vauban), whole (inside its output, at most half as wide), middle

Typing goes to whatever has the keyboard, so those steps first wait until that is the sheet. $WAYLAND_DISPLAY and $SWAYSOCK are there
for what a step runs; $DISPLAY is not.
"""
import json
import os
import select
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
import desktop  # noqa: E402
from desktop import Fault, seconds_max  # noqa: E402

settings = """xwayland disable
input * repeat_delay 60000
output * resolution 1280x800 bg #5e6b7d solid_color
exec echo "$WAYLAND_DISPLAY $SWAYSOCK" >{ready}
"""
nobody = 65534


class Wayland(desktop.Desktop):
    verbs = [verb for verb in desktop.Desktop.verbs if verb != "click"] + ["stands"]

    def begin(self):
        os.environ.pop("DISPLAY", None)
        os.environ["GDK_BACKEND"] = "wayland"
        folder = tempfile.mkdtemp(prefix="display.")
        ready = f"{folder}/ready"
        os.mkfifo(ready)
        with open(f"{folder}/settings", "w") as file:
            file.write(settings.format(ready=ready))
        # It never outlives the test.
        command = ["setpriv", "--pdeathsig", "KILL"]
        if os.geteuid() == 0:
            # sway refuses to start for a user who can become root.
            for path in (folder, ready, f"{folder}/settings"):
                os.chown(path, nobody, nobody)
            command += ["--reuid", str(nobody), "--regid", str(nobody), "--clear-groups"]
        words = {"PATH": os.environ["PATH"], "HOME": folder, "XDG_RUNTIME_DIR": folder}
        words.update(WLR_BACKENDS="headless", WLR_RENDERER="pixman", WLR_LIBINPUT_NO_DEVICES="1")
        self.log = f"{folder}/log"
        with open(self.log, "w") as log:
            self.server = subprocess.Popen(
                [*command, "sway", "--config", f"{folder}/settings"], env=words, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        told = os.open(ready, os.O_RDWR | os.O_NONBLOCK)
        if not select.select([told], [], [], seconds_max)[0]:
            with open(self.log) as log:
                raise Fault(f"sway does not start: {log.read()}")
        name, os.environ["SWAYSOCK"] = os.read(told, 4096).decode().split()
        os.close(told)
        os.environ["WAYLAND_DISPLAY"] = f"{folder}/{name}"
        # A permanent keyboard, as desktops have: when the last keyboard is removed, windows lose the focus and the first keys of the next one.
        self.keyboard = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", "wtype", "-s", "2000000"])
        end = time.monotonic() + seconds_max
        while not any(one["type"] == "keyboard" for one in self.tell("get_inputs")):
            if self.keyboard.poll() is not None or time.monotonic() > end:
                raise Fault("there is no keyboard")

    def end(self):
        super().end()
        self.keyboard.kill()
        self.keyboard.wait()

    # Elements on the screen.

    def tell(self, kind):
        # swaymsg waits for three seconds at most.
        while (told := subprocess.run(["swaymsg", "--raw", "-t", kind], capture_output=True)).returncode != 0:
            if self.server.poll() is not None:
                raise Fault("sway has ended")
        return json.loads(told.stdout)

    def window(self):
        return self.find(self.tell("get_tree"))

    def find(self, node):
        if node.get("pid") == self.sheet.pid:
            return node
        for key in ("nodes", "floating_nodes"):
            for child in node.get(key, []):
                found = self.find(child)
                if found:
                    return found
        return None

    def standing(self):
        node = self.window()
        if not node:
            return []
        output = self.tell("get_outputs")[0]["rect"]
        rect = node["rect"]
        words = ["focused" if node["focused"] else "unfocused", "floating" if node["type"] == "floating_con" else "tiled"]
        words += ["urgent" if node["urgent"] else "calm", "shown" if node["visible"] else "behind"]
        if (node["shell"], node["app_id"], node["name"]) == ("xdg_shell", "vauban-sheet", "Vauban") and "window" in node:
            words.append("native" if node["window"] is None else "foreign")
        right, below = output["width"] - rect["x"] - rect["width"], output["height"] - rect["y"] - rect["height"]
        if min(rect["x"], rect["y"], right, below) >= 0 and rect["width"] * 2 <= output["width"]:
            words.append("whole")
        if abs(rect["x"] - right) <= 2 and abs(rect["y"] - below) <= 2:
            words.append("middle")
        return words

    def stands(self, words):
        self.until(f"the window is not {words}", lambda: set(words.split()) <= set(self.standing()))

    def tree(self, rest):
        print("    stands:", *self.standing(), (self.window() or {}).get("rect"), flush=True)
        super().tree(rest)

    # Actions of the user.

    def at_window(self):
        self.stands("focused")

    def type(self, text):
        self.at_window()
        self.accepts()
        subprocess.run(["wtype", "--", text], check=True)

    def key(self, name):
        self.at_window()
        if name != "Escape":
            self.accepts()
        subprocess.run(["wtype", "-k", name], check=True)

    def picture(self):
        picture = subprocess.run(["grim", "-"], check=True, capture_output=True).stdout
        return picture, picture


if __name__ == "__main__":
    desktop.play(Wayland)
