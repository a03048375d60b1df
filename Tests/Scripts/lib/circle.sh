# For tests of a circle: several devices, each with its own keychain below $TMPDIR, that share the folder $folder. To be sourced after
# command-line.sh, which provides the first device, `keychain`.
folder=$TMPDIR/shared
device() { export VAUBAN_HOME=$TMPDIR/$1; }
new_device() { device "$1"; new_keychain; set_passcode; }
# own STATUS COMMAND...: without a prompt agent; with STATUS COMMAND...: with the passcode on a descriptor.
own() { expect_status "$1" setsid --wait "$VAUBAN_BUILD/vauban" "${@:2}" </dev/null; }
with() { want=$1; shift; expect_status "$want" setsid --wait "$VAUBAN_BUILD/vauban" "$@" --passcode-fd 3 3<<<"$passcode" </dev/null; }
text() { expect_text "$1" "$TMPDIR/err"; }
sync() { device "$1"; own "${2:-0}" sync; }
equals() { [ "$1" = "$2" ] || fail "there is \"$1\", not \"$2\""; }
has() { device "$1"; equals "$(vauban get "$2" 2>/dev/null)" "$3"; }
lacks() { device "$1"; expect_status 44 vauban get "$2"; }
item() { printf '{"service":"%s","account":"%s","secret":"%s","synchronizable":true}' "$1" "$2" "$3" | vauban add --json - 2>/dev/null || fail "add --json failed for $1/$2"; }
# join NEW MEMBER [OPTIONS]: joins by codes; the options go to the member's approval.
join() {
    device "$1"; own 0 sync join "$folder" --name "$1"
    device "$2"; own 0 sync approve
    device "$1"; own 0 sync join "$folder"; code=$(cat "$TMPDIR/out")
    device "$2"; with 0 sync approve "$code" "${@:3}"; answer=$(cat "$TMPDIR/out")
    device "$1"; with 0 sync join "$folder" "$answer"
}
# Stops every device that the test created.
trap 'for home in "$TMPDIR"/*/lock; do VAUBAN_HOME=${home%/lock} vauban stop; done >/dev/null 2>&1' EXIT
