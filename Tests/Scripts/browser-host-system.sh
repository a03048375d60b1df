#!/usr/bin/env bash
# The browser's host with the installed service: it serves a browser that only root can change, with the items of its user, and no browser in a
# folder of the user. No other program of the user can read its memory.
set -u
[ -x "$VAUBAN_BUILD/vauban-browser-host" ] || { echo 'vauban-browser-host is not built'; exit 77; }
[ -x /usr/bin/python3 ] || { echo 'there is no python3 here'; exit 77; }
. Tests/Scripts/lib/system-rooms.sh
cp "$VAUBAN_BUILD/vauban-browser-host" Tests/Scripts/lib/native.py "$bin/" && chmod 755 "$bin"/*
cp "$(readlink -f /usr/bin/python3)" /usr/local/games/bin/chromium && chmod 755 /usr/local/games/bin/chromium
install -o vauban-test-alice -g vauban-test-alice -m 755 /usr/local/games/bin/chromium "$TMPDIR/alice/chromium"
extension=$(sed -n 's/.*chromiumExtension = "\(.*\)"/\1/p' Sources/Values/VaubanBrowserSetup/BrowserSetup.swift)
start_rooms
with_passcode alice passcode set 2>/dev/null && with_passcode bob passcode set 2>/dev/null || { echo 'no passcode could be set'; exit 1; }
printf 'tulips-and-rain-7' | alice set --url https://anna@login.example.com/ || { echo 'set failed'; exit 1; }
# in_browser USER BROWSER <<PYTHON
in_browser() {
    as "vauban-test-$1" PYTHONHOME=/usr PYTHONPATH="$bin" PYTHONDONTWRITEBYTECODE=1 VAUBAN_BUILD="$bin" EXTENSION="$extension" \
        timeout "$hang_seconds" "$2" - >"$TMPDIR/browser" 2>&1 && return
    sed 's/^/    /' "$TMPDIR/browser"; return 1
}
check 'a browser that only root can change is served' in_browser alice /usr/local/games/bin/chromium <<'PYTHON'
from native import *
host = Host()
item, = host.find()
assert host.ask("password", origin=SITE, item=item["item"])["password"] == "tulips-and-rain-7"
assert host.end() == (0, "")
PYTHON
check 'another user'"'"'s browser has that user'"'"'s items' in_browser bob /usr/local/games/bin/chromium <<'PYTHON'
from native import *
host = Host()
assert host.find() == []
assert host.end() == (0, "")
PYTHON
check 'a browser in a folder of the user is refused' in_browser alice "$TMPDIR/alice/chromium" <<'PYTHON'
from native import *
host = Host()
assert "can be changed by others than root" in host.receive()["error"]
assert host.receive() is None and host.end()[0] == 53
PYTHON
check 'no other program of the user reads its memory, not even the browser' in_browser alice /usr/local/games/bin/chromium <<'PYTHON'
from native import *
host = Host()
host.find()
for name in "mem", "environ", "maps":
    try:
        open(f"/proc/{host.process.pid}/{name}", "rb").read(1)
    except OSError:
        continue
    raise AssertionError(name + " is open")
assert host.end() == (0, "")
PYTHON
finish
