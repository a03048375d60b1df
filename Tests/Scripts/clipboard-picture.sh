#!/usr/bin/env bash
# vauban code scan --clipboard: QR codes of pictures in real clipboards, under X11 (xclip) and Wayland (wl-paste), with the limits of files.
# limit: 600
# resource: clipboard
set -u
for tool in Xvfb xclip xsel sway wl-copy wl-paste qrencode zbarimg convert; do command -v "$tool" >/dev/null || { echo "there is no $tool here"; exit 77; }; done
. Tests/Scripts/lib/command-line.sh
. Tests/Scripts/lib/desktops.sh
trap 'vauban stop >/dev/null 2>&1; stop_desktops' EXIT
address='otpauth://totp/Example:carl@example.com?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Example'
printf %s "$address" | qrencode -o "$TMPDIR/one.png" -s 6
printf %s 'otpauth://totp/Two:dora?secret=JBSWY3DPEHPK3PXP' | qrencode -o "$TMPDIR/two.png" -s 6
convert "$TMPDIR/one.png" "$TMPDIR/two.png" -append "$TMPDIR/both.png"
convert -size 40x40 xc:white "$TMPDIR/empty.png"
printf '\x89PNG\r\n\x1a\nmvg:/etc/passwd' >"$TMPDIR/forged.png"
cp "$TMPDIR/one.png" "$TMPDIR/large.png"
truncate -s 33M "$TMPDIR/large.png"

# Without a desktop, without a tool, and with a picture besides.
expect_status 64 vauban code scan --clipboard
expect_text 'No clipboard: neither' "$TMPDIR/err"
mkdir "$TMPDIR/few"
ln -s "$(command -v zbarimg)" "$TMPDIR/few/zbarimg"
DISPLAY=:1 PATH=$TMPDIR/few expect_status 64 "$VAUBAN_BUILD/vauban" code scan --clipboard
expect_text 'install xclip' "$TMPDIR/err"
WAYLAND_DISPLAY=wayland-9 PATH=$TMPDIR/few expect_status 64 "$VAUBAN_BUILD/vauban" code scan --clipboard
expect_text 'install wl-clipboard' "$TMPDIR/err"
DISPLAY=:4711 expect_status 64 vauban code scan --clipboard
expect_text 'xclip found no picture in the clipboard' "$TMPDIR/err"
expect_status 64 vauban code scan --clipboard "$TMPDIR/one.png"
expect_text 'Name a picture, or use --clipboard' "$TMPDIR/err"
expect_status 64 vauban code scan

# on_desktop TOOL: what must hold on any desktop; `copy TYPE FILE` and `copy_text FILE` fill its clipboard.
on_desktop() {
    expect_status 64 vauban code scan --clipboard
    expect_text "$1 found no picture in the clipboard" "$TMPDIR/err"
    copy image/png "$TMPDIR/one.png"
    [ "$(vauban code scan --clipboard)" = "$address" ] || fail 'the picture in the clipboard says another address'
    copy image/png "$TMPDIR/both.png"
    [ "$(vauban code scan --clipboard | wc -l)" = 2 ] || fail 'two codes in one picture are not two'
    copy image/png "$TMPDIR/empty.png"
    expect_status 64 vauban code scan --clipboard
    expect_text "No QR code was found in the clipboard's content" "$TMPDIR/err"
    # A file that claims to be a picture, and a picture that is too large.
    printf %s "$address" >"$TMPDIR/text"
    copy image/png "$TMPDIR/text"
    expect_status 64 vauban code scan --clipboard
    expect_text "the clipboard's content is not a picture in PNG" "$TMPDIR/err"
    copy image/png "$TMPDIR/forged.png"
    expect_status 64 vauban code scan --clipboard
    expect_text 'No QR code was found' "$TMPDIR/err"
    copy image/png "$TMPDIR/large.png"
    expect_status 64 vauban code scan --clipboard
    expect_text 'larger than 32 MiB; copy only its QR code' "$TMPDIR/err"
    # A text is not a picture, even if it is an address.
    copy_text "$TMPDIR/text"
    expect_status 64 vauban code scan --clipboard
    expect_text "$1 found no picture in the clipboard" "$TMPDIR/err"
}

start_x11
# xclip starts a process that offers the content before the server knows of it: until then the clipboard has the earlier content.
copy() {
    xclip -selection clipboard -t "$1" -i "$2"
    pasted "$2" xclip -selection clipboard -t "$1" -o
}
# pasted FILE COMMAND...: waits until the command prints the content of the file. A command that still asked the former owner, which a killed
# reader may have left waiting, never ends. So each attempt has a limit, and each a longer one.
pasted() {
    local limit=4 end=$((SECONDS + hang_seconds))
    until timeout "$limit" "${@:2}" 2>/dev/null | cmp -s - "$1"; do
        [ "$SECONDS" -lt "$end" ] || fail "the clipboard does not get $1"
        limit=$((limit + 4))
    done
}
# xclip would give its text as a picture, too.
copy_text() {
    xsel --clipboard --input <"$1"
    pasted "$1" xsel --clipboard --output
}
on_desktop xclip
# Directly from the clipboard into the keychain.
copy image/png "$TMPDIR/one.png"
vauban code scan --clipboard | vauban code add e/carl --uri - 2>/dev/null || fail 'a scanned address was not added'
[ "$(vauban code get e/carl --at 59 | wc -c)" = 6 ] || fail 'the scanned address gives no code'
# A program that offers a picture and does not send it.
xclip -quiet -selection clipboard -t image/png -i "$TMPDIR/both.png" 2>/dev/null & owner=$!
pasted "$TMPDIR/both.png" xclip -selection clipboard -t image/png -o
kill -STOP "$owner"
expect_status 53 vauban code scan --clipboard
expect_text 'did not send it in 10 seconds' "$TMPDIR/err"
{ kill -KILL "$owner"; wait "$owner"; } 2>/dev/null
stop_desktops
unset DISPLAY

start_wayland
copy() { wl-copy --type "$1" <"$2"; }
copy_text() { wl-copy <"$1"; }
on_desktop wl-paste
echo 'pictures of the clipboard are read with the limits of files, under X11 and Wayland'
