#!/usr/bin/env bash
# vauban get --copy and vauban code get --copy: real clipboards under X11 (xclip, xsel) and Wayland (wl-copy), emptied after a time only if they still hold the secret.
# limit: 600
# resource: clipboard
set -u
for tool in Xvfb xclip xsel sway wl-copy wl-paste; do command -v "$tool" >/dev/null || { echo "there is no $tool here"; exit 77; }; done
. Tests/Scripts/lib/command-line.sh
. Tests/Scripts/lib/desktops.sh
set_passcode
printf 'of the clipboard\n' | vauban set clip/anna --keep-newline || fail 'set failed'
printf 'of the clipboard\n' >"$TMPDIR/wanted"
printf 'of mine' >"$TMPDIR/mine"
printf other | vauban set clip/bert || fail 'set failed'
printf 'otpauth://hotp/C:cora?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=0' | vauban code add clip/cora 2>/dev/null || fail 'code add failed'
# The first codes of that key, one for each desktop below.
codes='755224 287082 359152 '

# Without a desktop, and without a tool, there is no prompt and no effect.
vauban lock 2>/dev/null
expect_status 64 vauban get clip/anna --copy
expect_text 'No clipboard: neither' "$TMPDIR/err"
mkdir "$TMPDIR/none"
DISPLAY=:1 PATH=$TMPDIR/none expect_status 64 "$VAUBAN_BUILD/vauban" get clip/anna --copy
expect_text 'install xclip or xsel' "$TMPDIR/err"
WAYLAND_DISPLAY=wayland-9 PATH=$TMPDIR/none expect_status 64 "$VAUBAN_BUILD/vauban" get clip/anna --copy
expect_text 'install wl-clipboard' "$TMPDIR/err"
unlock
DISPLAY=:4711 expect_status 53 vauban get clip/anna --copy
expect_text 'xclip could not set the clipboard, so nothing was copied' "$TMPDIR/err"
expect_status 64 vauban get clip/anna --clear-after 5s
expect_status 64 vauban get clip/anna --copy --clear-after 0
expect_status 64 vauban get clip/anna --copy --hex

# holders: the processes that stay; waiting for their end is waiting for an event, not for a clock.
holders() { pgrep -f '^vauban hold-clipboard '; }
# holds HOLDER: whether it is still one of them, which a zombie is not.
holds() { holders | grep -qxF "$1"; }
await_holders() { for holder in $(holders); do tail -s 0.02 --pid="$holder" -f /dev/null; done; }
# offers HOLDER: whether the tool that this process started still runs; it ends when something else is copied, and stays as a zombie.
offers() { ps --ppid "$1" -o stat= 2>/dev/null | grep -q '^[^Z]'; }
offers_no_more() { ! offers "$1"; }
# take_over FILE: copies a secret for a short time, and FILE before that time is over. If it was over first, the round proved nothing, and the
# next one has twice the time.
take_over() {
    for seconds in 1 2 4 8 16 32 64; do
        vauban get clip/anna --copy --clear-after "${seconds}s" 2>/dev/null || fail 'the secret could not be copied'
        holder=$(holders)
        "${copy[@]}" <"$1"
        awaited 'the earlier content leaves the clipboard' offers_no_more "$holder"
        if holds "$holder"; then await_holders; return; fi
    done
    fail 'the time ran out in each round before something else was copied'
}
# until_empty PASTE...: waits for an empty paste, since xclip ends before the X server has the content.
until_empty() { timeout "$hang_seconds" bash -c 'until [ -z "$("$@" 2>/dev/null)" ]; do :; done' - "$@"; }
# on_desktop PASTE...: what must hold on any desktop; PASTE prints its clipboard.
on_desktop() {
    vauban get clip/anna --copy --clear-after 1h >"$TMPDIR/out" 2>"$TMPDIR/err" || { cat "$TMPDIR/err"; fail 'the secret could not be copied'; }
    [ ! -s "$TMPDIR/out" ] || fail 'the secret was printed besides'
    expect_text 'The clipboard is cleared in 1 hour' "$TMPDIR/err"
    "$@" | cmp - "$TMPDIR/wanted" || fail 'the clipboard has something else'
    # No process that stays has the secret in its arguments or its environment.
    for process in $(holders) $(pgrep 'xclip|xsel|wl-copy'); do
        cat "/proc/$process/cmdline" "/proc/$process/environ" 2>/dev/null
    done | grep -aqF 'of the clipboard' && fail 'the secret is in the arguments or the environment of a process'
    first=$(holders)
    [ "$(wc -w <<<"$first")" = 1 ] || fail 'not one process stays behind'
    # Another secret replaces it at once, and is removed when its time is over.
    for seconds in 6 12 24 48 96; do
        vauban get clip/bert --copy --clear-after "${seconds}s" 2>/dev/null || fail 'the secret could not be copied again'
        second=$(holders | grep -vxF "$first")
        pasted=$("$@")
        # A paste after the time has ended proves nothing.
        ! holds "$second" || break
    done
    [ "$pasted" = other ] || fail 'the second secret is not in the clipboard'
    tail -s 0.02 --pid="$second" -f /dev/null
    until_empty "$@" || fail 'the clipboard was not emptied'
    kill "$first"; await_holders
    # A code is copied like a secret, and its counter advances.
    code=${codes%% *} codes=${codes#* }
    vauban code get clip/cora --copy >"$TMPDIR/out" 2>"$TMPDIR/err" || { cat "$TMPDIR/err"; fail 'the code could not be copied'; }
    [ ! -s "$TMPDIR/out" ] || fail 'the code was printed besides'
    expect_text 'Copied. The clipboard is cleared in 45 seconds, unless it has changed by then.' "$TMPDIR/err"
    [ "$("$@")" = "$code" ] || fail 'the clipboard does not have the code'
    kill "$(holders)"; await_holders
    until_empty "$@" || fail 'the code stays in the clipboard'
    # Content that was copied since then stays.
    take_over "$TMPDIR/mine"
    [ "$("$@")" = 'of mine' ] || fail 'the content that was copied later was removed'
    # A program that takes the clipboard over with the same content, as a clipboard manager does, does not keep it.
    take_over "$TMPDIR/wanted"
    until_empty "$@" || fail 'what a manager took over stays in the clipboard'
    # The end of the session, or a kill, empties it too.
    vauban get clip/anna --copy 2>"$TMPDIR/err"
    expect_text 'The clipboard is cleared in 45 seconds' "$TMPDIR/err"
    kill "$(holders)"; await_holders
    until_empty "$@" || fail 'a kill leaves the secret in the clipboard'
}

# A process that holds a clipboard for an hour must not outlive a failed test.
trap 'vauban stop >/dev/null 2>&1; kill $(holders) 2>/dev/null; stop_desktops' EXIT
start_x11
copy=(xclip -selection clipboard)
on_desktop xclip -selection clipboard -o
# Without xclip, xsel is used.
mkdir "$TMPDIR/tools"
ln -s "$(command -v xsel)" "$(command -v timeout)" "$TMPDIR/tools/"
vauban() { PATH=$TMPDIR/tools "$VAUBAN_BUILD/vauban" "$@"; }
copy=(xsel -b -i)
on_desktop xsel -b -o
vauban() { "$VAUBAN_BUILD/vauban" "$@"; }
unset DISPLAY

start_wayland
copy=(wl-copy)
on_desktop wl-paste -n
ls -d /tmp/wl-copy-buffer-* 2>/dev/null | while read -r left; do grep -lF 'of the clipboard' "$left"/* 2>/dev/null; done | grep . && fail 'wl-copy leaves the secret in a file'

# A wl-copy that can mark its input as a secret is requested to; the one above may be too old for it.
mkdir "$TMPDIR/newer"
cat >"$TMPDIR/newer/wl-copy" <<TOOL
#!/bin/sh
case " \$* " in *' --help '*) echo '  --sensitive  Hint to clipboard managers that this is a secret.'; exit ;; esac
echo "\$*" >>"$TMPDIR/newer/said"
cat >/dev/null
TOOL
chmod 755 "$TMPDIR/newer/wl-copy"
PATH=$TMPDIR/newer:$PATH vauban get clip/anna --copy --clear-after 1s 2>/dev/null || fail 'a newer wl-copy is not used'
grep -qx -- '--type text/plain --sensitive' "$TMPDIR/newer/said" || { cat "$TMPDIR/newer/said"; fail 'the secret was not marked as one'; }
await_holders
echo 'the clipboard has the secret for its time, and nothing else is removed from it'
