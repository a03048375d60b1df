#!/usr/bin/env bash
# Two members each admit a device at the same time, in one folder and in two copies of it that are merged later. One of them wins; the other
# reports that and joins again, with the device that it admitted. No device is in the circle without a member's approval, and no item is lost.
# proves: C-215
# limit: 600
set -u
. Tests/Scripts/lib/command-line.sh
folder=$TMPDIR/shared
copy=$TMPDIR/copy
device() { export VAUBAN_HOME=$TMPDIR/$1; }
own() { expect_status "$1" setsid --wait "$VAUBAN_BUILD/vauban" "${@:2}" </dev/null; }
with() { want=$1; shift; expect_status "$want" setsid --wait "$VAUBAN_BUILD/vauban" "$@" --passcode-fd 3 3<<<"$passcode" </dev/null; }
item() { device "$1"; printf '{"service":"of","account":"%s","secret":"of %s","synchronizable":true}' "$2" "$2" | vauban add --json - 2>/dev/null || fail 'add failed'; }
names='desk laptop phone tablet watch reader'
trap 'for home in $names; do VAUBAN_HOME=$TMPDIR/$home vauban stop; done >/dev/null 2>&1' EXIT
identity() { sed -n "s/^Answered the device \([0-9a-f]*\)\..*/\1/p" "$TMPDIR/err"; }
# ask NEW MEMBER FOLDER: the first three steps of joining. Sets $code to the new device's code, and $identity to its identifier.
ask() {
    device "$1"; own 0 sync join "$3" --name "$1"
    waiting=("$3"/join/*.1)
    for file in "${waiting[@]}"; do identity=$(basename "$file" .1); [ -e "$3/join/$identity.2" ] || break; done
    device "$2"; own 0 sync approve --device "$identity"
    device "$1"; own 0 sync join "$3"; code=$(cat "$TMPDIR/out")
}
# join NEW MEMBER: all steps of joining.
join() {
    ask "$1" "$2" "$folder"
    device "$2"; with 0 sync approve "$code" --device "$identity"; code=$(cat "$TMPDIR/out")
    device "$1"; with 0 sync join "$folder" "$code"
}
# all NAMES...: each device synchronizes twice, and then has every item that any of them added.
all() {
    for round in 1 2; do for name in "$@"; do device "$name"; own 0 sync; done; done
    for name in "$@"; do
        device "$name"
        for account in $items; do [ "$(vauban get "of/$account")" = "of $account" ] || fail "$name has no item of $account"; done
        vauban sync status >"$TMPDIR/out" || fail "the status of $name fails"
        for other in "$@"; do grep -q "^Device *$other " "$TMPDIR/out" || { cat "$TMPDIR/out"; fail "$name does not list $other"; }; done
    done
}
for name in $names; do device "$name"; new_keychain; set_passcode; done
device desk; own 0 sync new "$folder" --name desk
join laptop desk
items='desk laptop'
for name in desk laptop; do item $name $name; done
all desk laptop

# In one folder, at the same instant.
ask phone desk "$folder"; phone=$code phone_id=$identity
ask tablet laptop "$folder"; tablet=$code tablet_id=$identity
admit() {
    VAUBAN_HOME=$TMPDIR/$1 setsid --wait "$VAUBAN_BUILD/vauban" sync approve "$2" --device "$3" --passcode-fd 3 3<<<"$passcode" </dev/null \
        >"$TMPDIR/$1.out" 2>"$TMPDIR/$1.err"; echo $? >"$TMPDIR/$1.status"
}
admit desk "$phone" "$phone_id" & one=$!
admit laptop "$tablet" "$tablet_id" & two=$!
wait $one $two
item desk phone; item laptop tablet
items="$items phone tablet"
again=
for pair in desk:phone laptop:tablet; do
    member=${pair%:*} new=${pair#*:}
    case $(cat "$TMPDIR/$member.status") in
        0) device "$new"; with 0 sync join "$folder" "$(cat "$TMPDIR/$member.out")" ;;
        64) again="$again $pair" ;;
        *) cat "$TMPDIR/$member.err"; fail "$member ended with $(cat "$TMPDIR/$member.status")" ;;
    esac
done
[ "$again" != ' desk:phone laptop:tablet' ] || { cat "$TMPDIR"/*.err; fail 'both members lost'; }
if [ -z "$again" ]; then winner=desk; else
    pair=${again# } winner=laptop
    [ "${pair%:*}" = desk ] || winner=desk
    device "${pair%:*}"; own 64 sync
    old=$(vauban sync status | sed -n "s/^Device *${pair%:*} *\([0-9a-f]*\) .*(this device).*/\1/p")
    own 0 sync leave
    # The other devices list it twice until its earlier membership is removed.
    join "${pair%:*}" $winner
    device "${pair%:*}"; own 0 sync
    device $winner; with 0 sync remove "$old"
    device "${pair#*:}"; own 0 sync leave; join "${pair#*:}" "${pair%:*}"
fi
all desk laptop phone tablet

# In two copies of the folder, which are merged later: an existing file is not replaced.
cp -a "$folder" "$copy"
ask watch desk "$folder"; with_watch=$code watch_id=$identity
device laptop; own 0 sync --folder "$copy"
ask reader laptop "$copy"; with_reader=$code reader_id=$identity
device desk; with 0 sync approve "$with_watch" --device "$watch_id"; answer=$(cat "$TMPDIR/out")
device watch; with 0 sync join "$folder" "$answer"
device laptop; with 0 sync approve "$with_reader" --device "$reader_id"; answer=$(cat "$TMPDIR/out")
device reader; with 0 sync join "$copy" "$answer"
item watch watch; item laptop reader
items="$items watch reader"
for name in watch desk; do device $name; own 0 sync; done
for name in laptop reader; do device $name; own 0 sync; done
cp -an "$copy/." "$folder/"
device laptop; own 64 sync --folder "$folder"
device reader; own 64 sync --folder "$folder"
for name in desk phone tablet watch; do device $name; setsid --wait "$VAUBAN_BUILD/vauban" sync </dev/null >/dev/null 2>"$TMPDIR/err"; done
device laptop; own 0 sync leave
device reader; own 0 sync leave
device desk; with 0 sync remove laptop
join laptop desk
join reader laptop
all desk laptop phone tablet watch reader
echo 'of two members that admit a device at once one wins, the other joins again, and nothing is lost'
