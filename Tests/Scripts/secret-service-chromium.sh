#!/usr/bin/env bash
# Chromium over the Secret Service and over both of KWallet's names: the key of its cookies is an item of Vauban, a cookie on the disk opens with it,
# Chromium finds it again, and without it the cookie is lost.
# limit: 600
set -u
. Tests/Scripts/lib/command-line.sh
command -v chromium >/dev/null || { echo 'there is no chromium here'; exit 77; }
/usr/bin/python3 -c 'import cryptography' 2>/dev/null || { echo 'there is no python3-cryptography here'; exit 77; }
. Tests/Scripts/lib/secret-service.sh
vauban enable secret-service --kwallet 2>"$TMPDIR/err" || { cat "$TMPDIR/err"; fail 'the Secret Service was not enabled'; }
start_bus
# A server that sets a cookie, and records the cookies that it receives.
mkfifo "$TMPDIR/port"
/usr/bin/python3 Tests/Scripts/lib/cookie-server.py "$TMPDIR/cookies" >"$TMPDIR/port" & server_pid=$!
trap 'kill "$server_pid" 2>/dev/null; finish' EXIT
exec 7<"$TMPDIR/port"
read -r -t "$hang_seconds" port <&7 || fail 'the server does not start'
# browse STORE. Its own sandbox cannot run as root; it is not the subject of this test.
browse() {
    timeout "$hang_seconds" chromium --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run --disable-background-networking \
        --password-store="$1" --user-data-dir="$TMPDIR/profile-$1" --dump-dom "http://127.0.0.1:$port/" >"$TMPDIR/out" 2>"$TMPDIR/err" ||
        { tail -n 20 "$TMPDIR/err"; fail "chromium ends with an error ($1)"; }
    expect_text visited "$TMPDIR/out"
    # The processes that it started may end after it, and write what they stored only then.
    awaited "the end of chromium's processes" has_ended "$1"
}
has_ended() { ! pgrep -f -- "--user-data-dir=$TMPDIR/profile-$1" >/dev/null; }
# keeps_key STORE ITEM: with this --password-store, the key is this item.
keeps_key() {
    browse "$1"
    [ "$(tail -n 1 "$TMPDIR/cookies")" = none ] || fail "the first visit had a cookie ($1)"
    vauban get "$2" >"$TMPDIR/key" 2>"$TMPDIR/err" || { vauban list; cat "$TMPDIR/err"; fail "the key is no item of Vauban ($1)"; }
    /usr/bin/python3 Tests/Scripts/lib/chromium-cookie.py "$TMPDIR/profile-$1" "$TMPDIR/key" crumb 'a cookie of the test' ||
        fail "the cookie does not open with the key ($1)"
    browse "$1"
    [ "$(tail -n 1 "$TMPDIR/cookies")" = 'crumb=a cookie of the test' ] || fail "chromium does not find its key again ($1)"
    vauban delete "$2" --yes 2>/dev/null || fail "the key cannot be deleted ($1)"
    browse "$1"
    [ "$(tail -n 1 "$TMPDIR/cookies")" = none ] || fail "the cookie opens without its key ($1)"
    vauban get "$2" 2>/dev/null | cmp -s - "$TMPDIR/key" && fail "the deleted key is back ($1)"
}
keeps_key gnome-libsecret chromium
secret-tool search application chromium >"$TMPDIR/out" 2>&1; expect_text 'Chromium Safe Storage' "$TMPDIR/out"
# KWallet's names of Plasma 5 and 6 lead to the same item.
for store in kwallet5 kwallet6; do keeps_key $store 'Chromium Keys/Chromium Safe Storage'; done
echo 'chromium keeps the key of its cookies in Vauban'
