#!/usr/bin/env bash
# vauban code scan --screen: a QR code on a real screen (sway), by a real xdg-desktop-portal with its backend for sway; the file that it leaves is
# removed. A portal that refuses, is absent, takes no pictures, ends or never replies is reported, and files that it did not make stay.
# limit: 600
set -u
for tool in sway swaybg grim qrencode zbarimg dbus-daemon busctl pipewire; do command -v "$tool" >/dev/null || { echo "there is no $tool here"; exit 77; }; done
for program in xdg-desktop-portal xdg-desktop-portal-wlr xdg-desktop-portal-gtk; do [ -x /usr/libexec/$program ] || { echo "there is no $program here"; exit 77; }; done
/usr/bin/python3 -c 'from gi.repository import Gio' 2>/dev/null || { echo 'there is no python3-gi here'; exit 77; }
. Tests/Scripts/lib/command-line.sh
. Tests/Scripts/lib/desktops.sh
unset DBUS_SESSION_BUS_ADDRESS
processes=()
end_all() {
    local process
    for process in "${processes[@]}"; do { kill -CONT "$process"; kill "$process"; wait "$process"; } 2>/dev/null; done
    processes=()
}
trap 'end_all; stop_desktops; vauban stop >/dev/null 2>&1' EXIT
chmod 755 "$TMPDIR"
address='otpauth://totp/Example:carl@example.com?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Example'
printf %s "$address" | qrencode -o "$TMPDIR/one.png" -s 6
portals=$TMPDIR/portals
settings=$TMPDIR/settings
mkdir -p "$portals" "$settings/xdg-desktop-portal" "$TMPDIR/services" "$TMPDIR/cache"

# A session bus, which starts only the list of permissions.
start_bus() {
    cat >"$TMPDIR/bus.conf" <<CONFIG
<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN" "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type> <listen>unix:path=$TMPDIR/bus</listen> <auth>EXTERNAL</auth> <servicedir>$TMPDIR/services</servicedir>
  <policy context="default"> <allow send_destination="*" eavesdrop="true"/> <allow eavesdrop="true"/> <allow own="*"/> </policy>
</busconfig>
CONFIG
    cp /usr/share/dbus-1/services/org.freedesktop.impl.portal.PermissionStore.service "$TMPDIR/services/"
    sed -i /SystemdService/d "$TMPDIR/services/"*
    export DBUS_SESSION_BUS_ADDRESS=unix:path=$TMPDIR/bus
    exec {bus_says}< <(exec env XDG_DATA_HOME="$TMPDIR/data" dbus-daemon --config-file="$TMPDIR/bus.conf" --nofork --nopidfile --print-address=1 2>"$TMPDIR/bus.log")
    processes+=($!)
    read -r -t "$hang_seconds" _ <&"$bus_says" || fail 'the bus does not start'
}
# has_owner NAME: waits until it is owned.
has_owner() { awaited "a program owns $1" is_owned "$1"; }
is_owned() {
    busctl --address="$DBUS_SESSION_BUS_ADDRESS" call org.freedesktop.DBus /org/freedesktop/DBus org.freedesktop.DBus GetNameOwner s "$1" \
        >/dev/null 2>&1
}
is_free() { ! is_owned "$1"; }
# start_portal SCREENSHOT-BACKEND: the real one.
start_portal() {
    printf '[preferred]\ndefault=gtk\norg.freedesktop.impl.portal.Screenshot=%s\n' "$1" >"$settings/xdg-desktop-portal/portals.conf"
    env XDG_CONFIG_HOME="$settings" XDG_CURRENT_DESKTOP=sway XDG_DESKTOP_PORTAL_DIR="$portals" /usr/libexec/xdg-desktop-portal >"$TMPDIR/portal.log" 2>&1 & portal=$!
    processes+=("$portal")
    has_owner org.freedesktop.portal.Desktop
}
stop_portal() {
    { kill -CONT "$portal"; kill "$portal"; wait "$portal"; } 2>/dev/null
    awaited 'the bus notices the end of the portal' is_free org.freedesktop.portal.Desktop
}
scan() { vauban code scan --screen; }
refused() { expect_status "$1" scan; expect_text "$2" "$TMPDIR/err"; [ ! -s "$TMPDIR/out" ] || fail 'something was printed'; }

# Without a bus, without a portal, and with another picture besides.
refused 53 'No session bus is running'
expect_status 64 vauban code scan --screen "$TMPDIR/one.png"
expect_status 64 vauban code scan --screen --clipboard
start_bus
refused 53 'This desktop has no portal to take a picture of the screen; install xdg-desktop-portal'

# A screen with a QR code on it.
start_wayland
swaybg --mode center --image "$TMPDIR/one.png" >/dev/null 2>&1 & processes+=($!)
is_shown() { grim - 2>/dev/null | zbarimg --quiet --raw png:- 2>/dev/null | grep -q otpauth; }
awaited 'swaybg shows the QR code' is_shown
mkdir -m 700 "$TMPDIR/own"
for program in pipewire /usr/libexec/xdg-desktop-portal-gtk; do XDG_RUNTIME_DIR=$TMPDIR/own "$program" >"$TMPDIR/${program##*/}.log" 2>&1 & processes+=($!); done
cp /usr/share/xdg-desktop-portal/portals/gtk.portal "$portals/"
has_owner org.freedesktop.impl.portal.desktop.gtk

# A portal without a backend for the screen; then with sway's.
start_portal none
refused 53 'The portal of this desktop takes no pictures of the screen'
stop_portal
awaited 'the socket of pipewire' test -S "$TMPDIR/own/pipewire-0"
XDG_RUNTIME_DIR=$TMPDIR/own /usr/libexec/xdg-desktop-portal-wlr >"$TMPDIR/wlr.log" 2>&1 & processes+=($!)
has_owner org.freedesktop.impl.portal.desktop.wlr
cp /usr/share/xdg-desktop-portal/portals/wlr.portal "$portals/"
start_portal wlr
rm -f /tmp/out.png
[ "$(scan)" = "$address" ] || { cat "$TMPDIR/portal.log" "$TMPDIR/wlr.log"; fail 'the QR code on the screen is not read'; }
[ ! -e /tmp/out.png ] || fail 'the picture is still there'
# Directly from the screen into the keychain.
scan | vauban code add e/carl --uri - 2>/dev/null || fail 'a scanned address was not added'
[ "$(vauban code get e/carl --at 59 | wc -c)" = 6 ] || fail 'the scanned address gives no code'
stop_portal

# A scripted backend, behind the real portal.
conduct() { echo "$*" >"$TMPDIR/conduct"; }
start_played() {
    SCREEN_CONDUCT=$TMPDIR/conduct SCREEN_VERSION=$1 /usr/bin/python3 Tests/Scripts/lib/screen-backend.py 2>"$TMPDIR/played.log" & played=$!
    processes+=("$played")
    has_owner org.freedesktop.impl.portal.desktop.played
}
printf '[portal]\nDBusName=org.freedesktop.impl.portal.desktop.played\nInterfaces=org.freedesktop.impl.portal.Screenshot;\nUseIn=sway\n' >"$portals/played.portal"
start_played 1
start_portal played
conduct picture "$TMPDIR/one.png" "$TMPDIR/a picture, ä%.png"
[ "$(scan)" = "$address" ] || fail 'a picture with a long name is not read'
[ ! -e "$TMPDIR/a picture, ä%.png" ] || fail 'the picture is still there'
convert -size 40x40 xc:white "$TMPDIR/empty.png"
conduct picture "$TMPDIR/empty.png" "$TMPDIR/shot.png"
refused 64 'No QR code was found in the picture of the screen'
[ ! -e "$TMPDIR/shot.png" ] || fail 'a picture without a QR code is still there'
conduct cancel
refused 128 'the desktop was not allowed to take a picture of the screen'
conduct fail
refused 53 'refused to take a picture of the screen; allow it there, or copy a picture and run vauban code scan --clipboard'
# A file that it did not make is neither read nor removed; a special file is not waited for.
cp "$TMPDIR/one.png" "$TMPDIR/mine.png"
ln -s one.png "$TMPDIR/link.png"
mkfifo "$TMPDIR/pipe.png"
for name in mine.png pipe.png portals; do
    conduct address "file://$TMPDIR/$name"
    refused 53 'which it did not make for this; the file was not read and not removed'
    [ -e "$TMPDIR/$name" ] || fail "$name is gone"
done
conduct address "file://$TMPDIR/link.png"
refused 53 "link.png"
conduct address "file://$TMPDIR/nothing.png"
refused 53 "nothing.png"
for address_of_none in https://example.com/one.png "file://$TMPDIR/%zz" "file://$TMPDIR/%00" "file://$TMPDIR/%ff" file:one.png "file:///$(printf 'x%.0s' {1..2000})" ''; do
    conduct address "$address_of_none"
    refused 53 'named no file with the picture of the screen'
done
# Another user's file, even a new one.
if [ "$(id -u)" = 0 ]; then
    conduct picture "$TMPDIR/one.png" "$TMPDIR/other.png"
    : >"$TMPDIR/other.png"; chown 65534 "$TMPDIR/other.png"
    refused 53 'which it did not make for this'
    [ -e "$TMPDIR/other.png" ] || fail "another user's file is gone"
fi
# One that never replies, one that hangs, and one that ends: each is reported within its timeout.
conduct silent
timeout 120 "$VAUBAN_BUILD/vauban" code scan --screen >"$TMPDIR/silent" 2>&1 & silent=$!
wait "$silent"; [ $? = 53 ] || { cat "$TMPDIR/silent"; fail 'a portal that never replies is not reported'; }
expect_text 'took no picture of the screen in 60 seconds' "$TMPDIR/silent"
kill -STOP "$portal"
timeout 120 "$VAUBAN_BUILD/vauban" code scan --screen >"$TMPDIR/stuck" 2>&1; [ $? = 53 ] || { cat "$TMPDIR/stuck"; fail 'a portal that hangs is not reported'; }
expect_text "The desktop's portal does not answer" "$TMPDIR/stuck"
stop_portal
# The portal's own list of permissions refuses.
{ kill "$played"; wait "$played"; } 2>/dev/null
start_played 2
start_portal played
conduct picture "$TMPDIR/one.png" "$TMPDIR/shot.png"
busctl --address="$DBUS_SESSION_BUS_ADDRESS" call org.freedesktop.impl.portal.PermissionStore /org/freedesktop/impl/portal/PermissionStore \
    org.freedesktop.impl.portal.PermissionStore SetPermission sbssas screenshot true screenshot '' 1 no >/dev/null || fail 'no permission was set'
refused 53 'refused to take a picture of the screen; allow it there'
[ ! -e "$TMPDIR/shot.png" ] || fail 'a refused picture was accepted'
echo 'a QR code on the screen is read by the portal of the desktop, and its picture is removed'
