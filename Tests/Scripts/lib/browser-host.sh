# For tests of the browser's host: a separate keychain, and a simulated browser. To be sourced first.
# Defines, beside the functions of command-line.sh: as_browser, start_prompt_agent, await_prompt_agent, and the programs that count as browsers.
. Tests/Scripts/lib/command-line.sh
[ -x "$VAUBAN_BUILD/vauban-browser-host" ] || { echo 'vauban-browser-host is not built'; exit 77; }
[ -x /usr/bin/python3 ] || { echo 'there is no python3 here'; exit 77; }
EXTENSION=$(sed -n 's/.*chromiumExtension = "\(.*\)"/\1/p' Sources/Values/VaubanBrowserSetup/BrowserSetup.swift)
export VAUBAN_BUILD TMPDIR EXTENSION
export PYTHONDONTWRITEBYTECODE=1
# The host identifies a browser by its executable, which here is Python under that name.
mkdir "$TMPDIR/browsers"
for name in chromium firefox-esr other; do cp "$(readlink -f /usr/bin/python3)" "$TMPDIR/browsers/$name"; done
# as_browser NAME <<PYTHON: runs a program as this browser; it can import native.py.
as_browser() {
    PYTHONHOME=/usr PYTHONPATH=Tests/Scripts/lib timeout "$hang_seconds" "$TMPDIR/browsers/$1" - >"$TMPDIR/browser.out" 2>&1 && return
    cat "$TMPDIR/browser.out"
    return 1
}
# start_prompt_agent: opens a terminal of the user that answers the next prompt with the passcode; await_prompt_agent waits for its end.
start_prompt_agent() {
    rm -f "$TMPDIR/prompt_agent"
    play "$VAUBAN_BUILD/vauban" approve >"$TMPDIR/approve.out" 2>&1 <<STEPS &
expect Prompts appear here
run touch $TMPDIR/prompt_agent
expect asscode
secret $passcode
expect Accepted
key ctrl-c
STEPS
    prompt_agent=$!
    until [ -e "$TMPDIR/prompt_agent" ]; do kill -0 "$prompt_agent" || { cat "$TMPDIR/approve.out"; fail 'the terminal for prompts did not start'; }; done
}
await_prompt_agent() { wait "$prompt_agent"; grep -q Accepted "$TMPDIR/approve.out" || { cat "$TMPDIR/approve.out"; fail 'the user was not prompted'; }; }
