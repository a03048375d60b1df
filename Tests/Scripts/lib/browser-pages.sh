# For tests with real browsers: pages over HTTPS, served here for every name, and a separate display. To be sourced after browser-host.sh.
# Defines start_pages PROGRAM, for the browser of this name, stop_pages, in_chromium, in_firefox; and pages_lack, which names what this machine
# lacks for them.
pages_lack=
for program in Xvfb openssl; do command -v "$program" >/dev/null || pages_lack="there is no $program here"; done
[ -r /usr/share/publicsuffix/public_suffix_list.dat ] || pages_lack='there is no publicsuffix here'

start_pages() {
    [ -z "$pages_lack" ] || return 1
    command -v "$1" >/dev/null || { pages_lack="there is no $1 here"; return 1; }
    scripts/build-extension "$TMPDIR/extension" "$("$VAUBAN_BUILD/vauban" --version)" || fail 'the extension is not built'
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -subj /CN=pages -keyout "$TMPDIR/pages.key" -out "$TMPDIR/pages.pem" \
        -addext 'subjectAltName=DNS:login.example.com,DNS:www.example.com,DNS:1ogin.example.com,DNS:loginexample.com,DNS:login.example.com.evil.example,DNS:evil.example,DNS:www.act.org' 2>/dev/null || fail 'no certificate was made'
    PAGES_PIN=$(openssl x509 -in "$TMPDIR/pages.pem" -pubkey -noout | openssl pkey -pubin -outform DER | openssl dgst -sha256 -binary | openssl base64)
    exec {pages_say}< <(exec /usr/bin/python3 Tests/Scripts/lib/pages.py "$TMPDIR/pages.pem" "$TMPDIR/pages.key" 2>"$TMPDIR/pages.log")
    pages_pid=$!
    read -r -t "$hang_seconds" PAGES_PORT <&"$pages_say" || { cat "$TMPDIR/pages.log"; fail 'the pages are not served'; }
    exec {display_says}< <(exec Xvfb -displayfd 1 -screen 0 1280x900x24 -nolisten tcp 2>/dev/null)
    display_pid=$!
    read -r -t "$hang_seconds" number <&"$display_says" || fail 'there is no display'
    unset XDG_CONFIG_HOME WAYLAND_DISPLAY
    # No bus: programs that a browser starts there would outlive it.
    export DBUS_SESSION_BUS_ADDRESS=unix:path=$TMPDIR/no-bus
    export DISPLAY=:$number PAGES_PORT PAGES_PIN
    mkdir -p "$HOME/.config/chromium" "$HOME/.mozilla"
    "$VAUBAN_BUILD/vauban" enable browser >"$TMPDIR/enabled" 2>&1 || { cat "$TMPDIR/enabled"; fail 'enable browser failed'; }
}
stop_pages() {
    for process in "${pages_pid:-}" "${display_pid:-}"; do [ -z "$process" ] || { kill "$process"; wait "$process"; } 2>/dev/null; done
    pages_pid='' display_pid=''
}
trap 'stop_pages; vauban stop >/dev/null 2>&1' EXIT

# in_chromium <<PYTHON, in_firefox <<PYTHON: runs a program that uses `browser`, a new browser with the extension.
in_chromium() { in_browser chromium; }
in_firefox() { in_browser firefox; }
in_browser() {
    { echo "from $1 import start"; echo "from chromium import offered, until_marked, until_offered"; echo 'with start() as browser:'; sed 's/^/    /'; } >"$TMPDIR/steps.py"
    # Only ends a test that hangs: a run has many steps, each of which may take long.
    PYTHONPATH=$PWD/Tests/Scripts/lib timeout 900 /usr/bin/python3 "$TMPDIR/steps.py" >"$TMPDIR/browser.out" 2>&1 && return
    cat "$TMPDIR/browser.out"
    return 1
}
