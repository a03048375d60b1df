# For the tests of the browser's host: a keychain of the test's own, and a browser that is played. To be sourced first.
# After this there are, beside what command-line.sh brings: as_browser, approver, and the programs that count as browsers.
. Tests/Scripts/lib/command-line.sh
[ -x "$VAUBAN_BUILD/vauban-browser-host" ] || { echo 'vauban-browser-host is not built'; exit 77; }
[ -x /usr/bin/python3 ] || { echo 'there is no python3 here'; exit 77; }
EXTENSION=$(sed -n 's/.*chromiumExtension = "\(.*\)"/\1/p' Sources/Values/VaubanBrowserSetup/BrowserSetup.swift)
export VAUBAN_BUILD TMPDIR EXTENSION
export PYTHONDONTWRITEBYTECODE=1
# The host knows a browser by its executable: Python under that name.
mkdir "$TMPDIR/browsers"
for name in chromium firefox-esr other; do cp "$(readlink -f /usr/bin/python3)" "$TMPDIR/browsers/$name"; done
# as_browser NAME <<PYTHON: runs a program as this browser, with what native.py has.
as_browser() {
    PYTHONHOME=/usr PYTHONPATH=Tests/Scripts/lib timeout "$hang_seconds" "$TMPDIR/browsers/$1" - >"$TMPDIR/browser.out" 2>&1 && return
    cat "$TMPDIR/browser.out"
    return 1
}
# start_approver: a terminal of the user's at which the next prompt is answered with the passcode; await_approver waits for its end.
start_approver() {
    rm -f "$TMPDIR/approver"
    play "$VAUBAN_BUILD/vauban" approve >"$TMPDIR/approve.out" 2>&1 <<STEPS &
expect Prompts appear here
run touch $TMPDIR/approver
expect asscode
secret $passcode
expect Accepted
key ctrl-c
STEPS
    approver=$!
    until [ -e "$TMPDIR/approver" ]; do kill -0 "$approver" || { cat "$TMPDIR/approve.out"; fail 'no terminal for prompts'; }; done
}
await_approver() { wait "$approver"; grep -q Accepted "$TMPDIR/approve.out" || { cat "$TMPDIR/approve.out"; fail 'nobody was prompted'; }; }
