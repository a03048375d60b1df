#!/usr/bin/env bash
# The Secret portal: a real xdg-desktop-portal gets a key for an application from Vauban, which stays the same; a request that waits for the user
# ends with the unlock or is withdrawn, and requests that only the portal may send are refused to others.
# limit: 600
set -u
. Tests/Scripts/lib/command-line.sh
. Tests/Scripts/lib/secret-service.sh
portal=/usr/libexec/xdg-desktop-portal
[ -x "$portal" ] || { echo 'there is no xdg-desktop-portal here'; exit 77; }
vauban enable secret-service 2>"$TMPDIR/err" || { cat "$TMPDIR/err"; fail 'the Secret Service was not enabled'; }
[ -f "$XDG_DATA_HOME/xdg-desktop-portal/portals/vauban.portal" ] || fail 'there is no portal file'
# Only the portal's name starts the service here.
mkdir "$TMPDIR/services"
cp "$XDG_DATA_HOME/dbus-1/services/org.freedesktop.impl.portal.desktop.vauban.service" "$TMPDIR/services/"
sed -i 's|  <standard_session_servicedirs/>||; s|<auth>EXTERNAL</auth>|&\n  <servicedir>'"$TMPDIR"'/services</servicedir>|' "$TMPDIR/bus/config"
start_bus
vauban status >/dev/null 2>&1 || fail 'the rooms do not start'
key() { timeout 240 /usr/bin/python3 "$helper" backend-key "$@" || fail "no key for $1"; }

# One key for each application, of 64 bytes, and the same each time.
first=$(key org.example.First)
[[ $first =~ ^[0-9a-f]{128}$ ]] || fail "the key is $first"
[ "$(key org.example.First)" = "$first" ] || fail 'an application gets another key'
[ "$(key org.example.Second)" != "$first" ] || fail 'two applications have one key'
[[ $(key '') =~ ^[0-9a-f]{128}$ ]] || fail 'what runs outside of sandboxes gets no key'
kill_service
vauban stop >/dev/null 2>&1; vauban status >/dev/null 2>&1
[ "$(key org.example.First)" = "$first" ] || fail 'the key does not outlast the service'
vauban list >"$TMPDIR/out"; expect_text secret-portal/org.example.First "$TMPDIR/out"
[ "$(vauban get secret-portal/org.example.First --hex)" = "$first" ] || fail 'the command line reads another key'
secret-tool search --all service secret-portal >"$TMPDIR/out" 2>&1; grep -q 'secret = ' "$TMPDIR/out" && fail 'the keys of applications are listed as items'
try portal-refused

# A locked keychain: the call waits for the unlock; it ends with its request, and others are answered meanwhile.
set_passcode
vauban lock 2>/dev/null || fail 'the keychain cannot be locked'
[ "$(key org.example.First closes)" = 'response 1' ] || fail 'a request that was ended gives a key'
[ "$(key org.example.First)" = 'response 2' ] || fail 'a request that nothing can show gives a key, or counts as refused by the user'
mkfifo "$TMPDIR/said"
# It waits for a short time only. If that was over before the unlock, the round proved nothing.
for _ in 1 2 3; do
    timeout 240 /usr/bin/python3 "$helper" backend-key org.example.First waits >"$TMPDIR/said" & client=$!
    exec 7<"$TMPDIR/said"
    read -r -t "$hang_seconds" said <&7; [ "$said" = waits ] || fail 'the call does not wait'
    [ "$(key org.example.Second closes)" = 'response 1' ] || fail 'a call that waits holds up others'
    unlock
    read -r -t "$hang_seconds" said <&7; exec 7<&-; wait "$client"
    [ "$said" = 'response 2' ] || break
    vauban lock 2>/dev/null || fail 'the keychain cannot be locked'
done
[ "$said" = "$first" ] || fail "after the unlock the key is $said"

# The real portal.
cp /usr/share/dbus-1/services/org.freedesktop.impl.portal.PermissionStore.service "$TMPDIR/services/" 2>/dev/null
busctl --address="$DBUS_SESSION_BUS_ADDRESS" call org.freedesktop.DBus /org/freedesktop/DBus org.freedesktop.DBus ReloadConfig >/dev/null
mkdir -p "$XDG_CONFIG_HOME/xdg-desktop-portal"
printf '[preferred]\norg.freedesktop.impl.portal.Secret=vauban\n' >"$XDG_CONFIG_HOME/xdg-desktop-portal/portals.conf"
XDG_CURRENT_DESKTOP=vauban XDG_DESKTOP_PORTAL_DIR=$XDG_DATA_HOME/xdg-desktop-portal/portals "$portal" >"$TMPDIR/portal.log" 2>&1 & frontend=$!
try wait-for-owner org.freedesktop.portal.Desktop
portal_key() { timeout 240 /usr/bin/python3 "$helper" "${1:-portal-key}" || { cat "$TMPDIR/portal.log"; fail 'the portal gives no key'; }; }
through=$(portal_key)
[[ $through =~ ^[0-9a-f]{128}$ ]] || fail "the key through the portal is $through"
[ "$(portal_key)" = "$through" ] || fail 'the portal gives another key'
[ "$(portal_key late-portal-key)" = "$through" ] || fail 'an application that subscribes to the response late gets another key'
{ kill "$frontend"; wait "$frontend"; } 2>/dev/null
rm -r "$XDG_CONFIG_HOME/xdg-desktop-portal"
vauban disable secret-service 2>/dev/null || fail 'the Secret Service was not disabled'
[ -z "$(find "$XDG_CONFIG_HOME" "$XDG_DATA_HOME" -type f 2>/dev/null)" ] || { find "$XDG_CONFIG_HOME" "$XDG_DATA_HOME" -type f; fail 'a file was not removed'; }
echo 'applications get their keys from the portal'
