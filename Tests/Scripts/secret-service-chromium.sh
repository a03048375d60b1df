#!/usr/bin/env bash
# Chromium over the Secret Service: the key of its cookies is an item of Vauban, a cookie on the disk opens with it, Chromium finds it again, and
# without it the cookie is lost.
# limit: 600
set -u
. Tests/Scripts/lib/command-line.sh
command -v chromium >/dev/null || { echo 'there is no chromium here'; exit 77; }
/usr/bin/python3 -c 'import cryptography' 2>/dev/null || { echo 'there is no python3-cryptography here'; exit 77; }
. Tests/Scripts/lib/secret-service.sh
vauban enable secret-service 2>"$TMPDIR/err" || { cat "$TMPDIR/err"; fail 'the Secret Service was not enabled'; }
start_bus
# A server that sets a cookie, and records the cookies that it receives.
mkfifo "$TMPDIR/port"
/usr/bin/python3 Tests/Scripts/lib/cookie-server.py "$TMPDIR/cookies" >"$TMPDIR/port" & server_pid=$!
trap 'kill "$server_pid" 2>/dev/null; finish' EXIT
exec 7<"$TMPDIR/port"
read -r -t "$hang_seconds" port <&7 || fail 'the server does not start'
# Its own sandbox cannot run as root; it is not the subject of this test.
browse() {
    timeout "$hang_seconds" chromium --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run --disable-background-networking \
        --password-store=gnome-libsecret --user-data-dir="$TMPDIR/profile" --dump-dom "http://127.0.0.1:$port/" >"$TMPDIR/out" 2>"$TMPDIR/err" ||
        { tail -n 20 "$TMPDIR/err"; fail 'chromium ends with an error'; }
    expect_text visited "$TMPDIR/out"
    # The processes that it started may end after it, and write what they stored only then.
    while pgrep -f -- "--user-data-dir=$TMPDIR/profile" >/dev/null; do :; done
}
browse
[ "$(tail -n 1 "$TMPDIR/cookies")" = none ] || fail 'the first visit had a cookie'
vauban get chromium >"$TMPDIR/key" 2>"$TMPDIR/err" || { vauban list; cat "$TMPDIR/err"; fail 'the key is no item of Vauban'; }
secret-tool search application chromium >"$TMPDIR/out" 2>&1; expect_text 'Chromium Safe Storage' "$TMPDIR/out"
/usr/bin/python3 Tests/Scripts/lib/chromium-cookie.py "$TMPDIR/profile" "$TMPDIR/key" crumb 'a cookie of the test' || fail 'the cookie does not open with the key'
browse
[ "$(tail -n 1 "$TMPDIR/cookies")" = 'crumb=a cookie of the test' ] || fail 'chromium does not find its key again'
vauban delete chromium --yes 2>/dev/null || fail 'the key cannot be deleted'
browse
[ "$(tail -n 1 "$TMPDIR/cookies")" = none ] || fail 'the cookie opens without its key'
vauban get chromium 2>/dev/null | cmp -s - "$TMPDIR/key" && fail 'the deleted key is back'
echo 'chromium keeps the key of its cookies in Vauban'
