#!/usr/bin/env bash
# vauban enable secret-service and disable: the items of a real GNOME Keyring, of a simulated provider and of a simulated KWallet are imported
# before Vauban takes their place, by a prompt on a terminal or an option without one, and a failure changes nothing. Then files of other
# programs, other options, another installation, folders that cannot be written, and what vauban doctor reports of each.
# limit: 600
set -u
. Tests/Scripts/lib/command-line.sh
. Tests/Scripts/lib/secret-service.sh
command -v gnome-keyring-daemon >/dev/null || { echo 'there is no gnome-keyring-daemon here'; exit 77; }
/usr/bin/python3 -c 'import dbus, cryptography' 2>/dev/null || { echo 'there is no python3-dbus or python3-cryptography here'; exit 77; }
services=$XDG_DATA_HOME/dbus-1/services own=$XDG_DATA_HOME/dbus-1/services/org.freedesktop.secrets.service
hidden=$XDG_CONFIG_HOME/autostart/gnome-keyring-secrets.desktop
sed -i 's|  <standard_session_servicedirs/>||' "$TMPDIR/bus/config"
# None has a terminal, unless one is simulated.
enable() { expect_status "$1" detached enable secret-service --no-kwallet "${@:2}"; }
disable() { expect_status 0 detached disable secret-service; }
out() { expect_text "$1" "$TMPDIR/out"; }
err() { expect_text "$1" "$TMPDIR/err"; }
doctor() { vauban doctor >"$TMPDIR/out" 2>&1; expect_text "$1" "$TMPDIR/out"; }
absent() { ! grep -qF -- "$1" "$2" || { cat "$2"; fail "there is \"$1\" in what was shown"; }; }
files() { find "$XDG_CONFIG_HOME" "$XDG_DATA_HOME" -name keyrings -prune -o \( -type f -o -type l -o -type p \) -print 2>/dev/null | sort; }
nothing_written() { [ -z "$(files)" ] || { files; fail "$1"; }; }
finish_all() { { kill "${keyring:-}" "${played:-}"; wait "${keyring:-}" "${played:-}"; } 2>/dev/null; finish; }
trap finish_all EXIT
vauban status >/dev/null 2>&1 || fail 'the rooms do not start'

# Without a bus and without a provider there is nothing to import, which is reported if an import is requested.
disable; err 'The Secret Service was not enabled.'
enable 53 --import; err 'No session bus is running'; absent 'brought over' "$TMPDIR/err"; nothing_written 'it is enabled without a bus, although an import was demanded'
enable 0; err 'from the next login on'; enable 0; disable; nothing_written 'a file is left'
(umask 000; enable 0) || exit 1
! find "$XDG_CONFIG_HOME" "$XDG_DATA_HOME" -name 'vauban*' -type f -perm /022 -o -name 'org.*' -type f -perm /022 | grep . || fail 'others can change what starts the service'
disable; nothing_written 'a file is left'
# What a power cut or a kill left of an earlier command is in nobody's way.
mkdir -p "$services"; : >"$own.partial"
enable 0; [ ! -e "$own.partial" ] || fail 'an incomplete file is left'
disable; nothing_written 'a file is left'
# As root in the home of another user, as under sudo -E.
if [ "$(id -u)" = 0 ] && mkdir "$TMPDIR/other" && chown 12345 "$TMPDIR/other" 2>/dev/null; then
    (export XDG_CONFIG_HOME="$TMPDIR/other/.config" XDG_DATA_HOME="$TMPDIR/other/.local/share"; enable 64; err 'run this command as that user, without sudo') ||
        exit 1
    [ -z "$(ls -A "$TMPDIR/other")" ] || fail 'something was written to the home of another user'
fi
disable; err 'The Secret Service was not enabled.'
start_bus
enable 53 --import; err 'No program provides the Secret Service now'; err 'was not enabled'; nothing_written 'it is enabled without a provider'
doctor 'no program; to use Vauban: vauban enable secret-service'
enable 0 --no-import; doctor "no program yet; the first one that uses it starts Vauban's"; disable

# GNOME Keyring. Without a terminal, and with --no-input on one, nothing is imported unless that is requested.
mkfifo "$TMPDIR/login-password"
gnome-keyring-daemon --foreground --unlock --components=secrets --control-directory="$TMPDIR/control" <"$TMPDIR/login-password" >"$TMPDIR/keyring.log" 2>&1 & keyring=$!
printf 'login password' >"$TMPDIR/login-password"
try wait-for-owner
printf 'first secret' | secret-tool store --label='My mail' service mail username anna || fail 'GNOME Keyring stores nothing'
work=$(timeout "$hang_seconds" /usr/bin/python3 "$helper" fill-keyring) || fail 'GNOME Keyring is not filled'
try dump >"$TMPDIR/there"
doctor "to use Vauban: vauban enable secret-service, then log out and in"
enable 0; err 'Until then they use gnome-keyring-d'; err 'To bring its items over: vauban import --from secret-service'
doctor 'to use Vauban: vauban import --from secret-service, then log out and in'
disable; err "Removed. Programs use gnome-keyring-d (process $keyring) now."
# on_terminal STATUS WORDS... <<STEPS
on_terminal() {
    play "$VAUBAN_BUILD/vauban" enable secret-service --no-kwallet "${@:2}" >"$TMPDIR/out"; status=$?
    [ "$status" = "$1" ] || { cat "$TMPDIR/out"; fail "vauban enable ended with $status on a terminal"; }
}
on_terminal 0 --no-input </dev/null; absent 'Y/n' "$TMPDIR/out"; disable
on_terminal 0 --no-import </dev/null; absent 'Y/n' "$TMPDIR/out"; disable
none() { vauban list 2>&1 | grep -q 'No items yet' || fail "$1"; }
none 'items were brought over without being wanted'

# On a terminal the user is prompted. Ctrl-C changes nothing, n enables only.
on_terminal 128 <<'STEPS'
expect GNOME Keyring (gnome-keyring-d (process
expect provides the Secret Service now, with 7 items.
expect Bring them over to Vauban? They stay in GNOME Keyring as well. [Y/n]
key ctrl-c
expect The Secret Service was not enabled
STEPS
nothing_written 'it is enabled although the user cancelled'; none 'items were brought over although the user cancelled'
on_terminal 0 <<'STEPS'
expect [Y/n]
send maybe
expect Type y or n
expect [Y/n]
send n
expect To bring its items over
STEPS
none 'items were brought over although the user said no'; disable
on_terminal 0 <<'STEPS'
expect [Y/n]
key enter
expect 7 added, 0 already exist, 0 not imported
expect from the next login on
STEPS
absent 'To bring' "$TMPDIR/out"
[ -f "$own" ] || fail 'the Secret Service was not enabled after the import'
[ "$(vauban get mail/anna)" = 'first secret' ] || fail 'what was brought over is not there'
try dump | diff "$TMPDIR/there" - || fail 'GNOME Keyring lost an item'
# Once more, which changes nothing. A locked keychain prompts for the passcode first.
on_terminal 0 <<'STEPS'
expect [Y/n]
send y
expect 0 added, 7 already exist, 0 not imported
STEPS
disable
set_passcode; vauban lock
on_terminal 0 --import <<STEPS
expect Passcode
secret $passcode
expect 0 added, 7 already exist, 0 not imported
STEPS
disable
vauban lock; enable 36 --import --no-input; err 'was not enabled'; nothing_written 'it is enabled although the keychain is locked'
unlock
# A locked collection whose prompt must not be shown: the rest is imported, and that is reported.
try lock-keyring "$work"
new_keychain; vauban status >/dev/null 2>&1
enable 1 --import --no-input
err 'A collection is locked'; out 'Work things: not imported: it is locked'; err '6 added, 0 already exist, 1 not imported'
err 'Some items were not brought over'; [ -f "$own" ] || fail 'the Secret Service was not enabled'
disable
kill "$keyring"; wait "$keyring" 2>/dev/null

# provider PROGRAM WORDS...: runs a simulated one.
provider() {
    rm -f "$TMPDIR/said"; mkfifo "$TMPDIR/said"
    timeout 300 /usr/bin/python3 "Tests/Scripts/lib/$1" "${@:2}" >"$TMPDIR/said" 2>"$TMPDIR/provider.err" & played=$!
    exec 7<"$TMPDIR/said"
    read -r -t "$hang_seconds" said <&7; [ "$said" = playing ] || { cat "$TMPDIR/provider.err"; fail 'no provider is played'; }
    # The background shell empties it only when it runs.
    : >"$TMPDIR/asked"
    cat <&7 >"$TMPDIR/asked" & reader=$!
}
end_provider() { { kill "$played"; wait "$played" "$reader"; } 2>/dev/null; exec 7<&-; }
# Its own prompt opens locked items. Counting opens nothing.
new_keychain; vauban status >/dev/null 2>&1
provider other-provider.py accepts
on_terminal 0 <<STEPS
expect with 3 items. A collection is locked; python3 asks you itself to unlock it.
run ! grep -q -e prompt -e secret $TMPDIR/asked
expect [Y/n]
send yes
expect Vault ä is locked; answer the prompt of python3.
expect 4 added, 0 already exist, 0 not imported
STEPS
end_provider
grep -qx prompt "$TMPDIR/asked" || fail "the provider's own prompt was not shown"
disable
# A provider that ends during the import: nothing is enabled, imported items stay, and the import can be repeated.
provider other-provider.py leaves
new_keychain; vauban status >/dev/null 2>&1
enable 53 --import; err 'was not enabled'; err 'the provider failed'; nothing_written 'it is enabled although the import failed'
end_provider
# KWallet too, if Vauban takes its place.
provider other-wallet.py gives 'of anna'
expect_status 0 detached enable secret-service --kwallet --import
err 'KDE Wallet (python3 (process '; err 'provides KWallet now, with 1 wallet.'
[ "$(vauban get Mail/anna)" = 'of anna' ] || fail 'the wallet is not brought over'
end_provider; disable; nothing_written 'a file is left'

# Vauban's own service has nothing to import.
"$VAUBAN_BUILD/vauban" secret-service --foreground 2>/dev/null & played=$!
try wait-for-owner
enable 0 --import; absent 'Y/n' "$TMPDIR/err"; err 'now use Vauban'
doctor "vauban-secret-s (process"; absent 'not enabled' "$TMPDIR/out"
disable; err 'From the next login on'; doctor 'not enabled, so only until you log out'
{ kill "$played"; wait "$played"; } 2>/dev/null

# Other options replace Vauban's own files; those that KDE needs are removed with them.
expect_status 0 detached enable secret-service --kwallet --share
grep -q -- '--share --kwallet' "$own" || fail 'the options are not there'
enable 0; grep -q -- '--share' "$own" && fail 'the earlier options were not replaced'
[ -e "$services/org.kde.kwalletd5.service" ] && fail "KDE's names are still taken"
disable; nothing_written 'a file is left'
# A file that is another program's, damaged, a pipe or a link: nothing is written, and it stays.
mkdir -p "$services"
printf '[D-BUS Service]\nName=org.freedesktop.secrets\nExec=/usr/bin/keepassxc\n' >"$own"
cp "$own" "$TMPDIR/other.service"
enable 45; err 'already exists with other content; nothing was written'
[ "$(files)" = "$own" ] || fail 'a file is written beside that of another program'
doctor "no program; $own starts another one; to use Vauban"
disable; err "$own is another program's, and stays"; cmp -s "$own" "$TMPDIR/other.service" || fail "another program's file is changed"
rm "$own"; ln -s "$TMPDIR/nowhere" "$own"
enable 45; err 'cannot be read'; disable; [ -L "$own" ] || fail 'a link of another program was removed'
rm "$own"; mkfifo "$own"
enable 45; err 'cannot be read'; disable; [ -p "$own" ] || fail 'a pipe was removed'
rm "$own"; ln -s "$TMPDIR/other.service" "$own"
enable 45; disable; cmp -s "$own" "$TMPDIR/other.service" || fail "what a link leads to is changed"
rm "$own"
# A link to the same content counts as the file; its target stays.
enable 0; mv "$own" "$TMPDIR/linked.service"; ln -s "$TMPDIR/linked.service" "$own"
enable 0; disable; [ -f "$TMPDIR/linked.service" ] || fail 'the target of a link was removed'
nothing_written 'a file is left'
# A file that the user changed: nothing is removed.
enable 0; printf '# mine\n' >>"$own"
expect_status 64 detached disable secret-service; err "$own was changed since; nothing was removed"
[ -f "$XDG_CONFIG_HOME/systemd/user/vauban-secret-service.service" ] || fail 'a file beside a changed one is removed'
sed -i '$d' "$own"
# The unit of an earlier version is replaced, and removed. In user mode, the keychain that the unit started outlasts it.
unit=$XDG_CONFIG_HOME/systemd/user/vauban-secret-service.service
grep -qx KillMode=process "$unit" || fail 'the end of the unit ends the keychain'
cp "$unit" "$TMPDIR/present.service"; sed -i '/^KillMode=/d' "$unit"; enable 0; cmp "$unit" "$TMPDIR/present.service" || fail 'the unit of an earlier version is not replaced'
sed -i '/^KillMode=/d' "$unit"; disable; nothing_written 'the unit of an earlier version is left'; enable 0
# A missing file: the others are removed, and enable writes it again.
rm "$XDG_CONFIG_HOME/systemd/user/vauban-secret-service.service"; enable 0
[ -f "$XDG_CONFIG_HOME/systemd/user/vauban-secret-service.service" ] || fail 'what is missing is not written'
rm "$own"; disable; nothing_written 'a file is left'
# GNOME Keyring's start that the user switched off stays off; a file that starts it is not replaced.
if [ -e /etc/xdg/autostart/gnome-keyring-secrets.desktop ]; then
    mkdir -p "${hidden%/*}"; printf '[Desktop Entry]\nX-GNOME-Autostart-enabled=false\n' >"$hidden"
    enable 0; disable; [ "$(files)" = "$hidden" ] || { files; fail "the user's own entry was removed"; }
    printf '[Desktop Entry]\nExec=gnome-keyring-daemon\n' >"$hidden"
    enable 45; err "$hidden already exists"; rm "$hidden"
fi

# The units that start another provider are masked if they are installed, and unmasked again. Units that the user masked or wrote stay.
units=$XDG_CONFIG_HOME/systemd/user service=$XDG_CONFIG_HOME/systemd/user/gnome-keyring-daemon.service
if [ -e /usr/lib/systemd/user/gnome-keyring-daemon.service ]; then
    masks() { for unit in gnome-keyring-daemon.service gnome-keyring-daemon.socket; do [ "$(readlink "$units/$unit")" = /dev/null ] || fail "$unit is not masked"; done; }
    enable 0; masks; err 'From the next login on these do not start by themselves: gnome-keyring-daemon.service (masked), gnome-keyring-daemon.socket (masked)'
    for unit in gnome-keyring-daemon.service gnome-keyring-daemon.socket; do
        ! command -v systemd-analyze >/dev/null || XDG_RUNTIME_DIR=$TMPDIR systemd-analyze --user verify $unit 2>&1 | grep -qF "$unit is masked" ||
            fail "systemd does not treat $unit as masked"
    done
    # The login starts Vauban's service before a portal has the bus start GNOME Keyring.
    cmp -s "$units/graphical-session-pre.target.wants/vauban-secret-service.service" "$units/vauban-secret-service.service" || fail 'the login does not start the service'
    # Where systemd does not start the bus of a session (on Debian: dbus-user-session), the bus starts the service by itself.
    ! command -v systemd-analyze >/dev/null || [ ! -e /usr/lib/systemd/user/dbus.socket ] ||
        XDG_RUNTIME_DIR=$TMPDIR systemd-analyze --user verify "$units/vauban-secret-service.service" >"$TMPDIR/out" 2>&1 || { cat "$TMPDIR/out"; fail 'systemd does not take the unit'; }
    disable; err 'From the next login on these start again: gnome-keyring-daemon.service, gnome-keyring-daemon.socket'; nothing_written 'a mask is left'
    mkdir -p "$units"; ln -s /dev/null "$units/gnome-keyring-daemon.socket"
    enable 0; masks; disable; [ "$(files)" = "$units/gnome-keyring-daemon.socket" ] || { files; fail "a unit that the user masked is unmasked, or a mask was not removed"; }
    rm "$units/gnome-keyring-daemon.socket"
    enable 0; rm "$service"; doctor 'at the next login gnome-keyring-daemon.service may come first; run vauban enable secret-service again'
    enable 0; masks; doctor 'Secret Service'; absent 'may come first' "$TMPDIR/out"
    rm "$service"; disable; nothing_written 'a mask is left beside a unit that the user unmasked'
    # The user's own unit, before and after.
    mkdir -p "$units"; printf '[Service]\nExecStart=/usr/bin/gnome-keyring-daemon\n' >"$service"; cp "$service" "$TMPDIR/own.service"
    enable 45; err "$service already exists with other content; nothing was written"
    [ "$(files)" = "$service" ] && cmp -s "$service" "$TMPDIR/own.service" || { files; fail "the user's own unit is changed, or a file is written beside it"; }
    rm "$service"; enable 0; rm "$service"; cp "$TMPDIR/own.service" "$service"
    disable; [ "$(files)" = "$service" ] && cmp -s "$service" "$TMPDIR/own.service" || { files; fail "the user's own unit was changed, or a mask was not removed"; }
    rm "$service"
    # Other options: masked units stay masked, with the units of KDE if those are installed.
    enable 0; expect_status 0 detached enable secret-service --kwallet --no-import; masks; enable 0; masks; disable; nothing_written 'a mask is left'
    # The missing link of the login is reported, and enable writes it.
    enable 0; rm "$units/graphical-session-pre.target.wants/vauban-secret-service.service"
    "$VAUBAN_BUILD/vauban" secret-service --foreground 2>/dev/null & played=$!
    try wait-for-owner; doctor 'some of its files are missing; run vauban enable secret-service again'
    enable 0; doctor 'vauban-secret-s (process'; absent 'some of its files' "$TMPDIR/out"
    { kill "$played"; wait "$played"; } 2>/dev/null; disable; nothing_written 'a file is left'
fi

# Another installation that was removed: doctor names it, disable removes its files, enable replaces them.
mkdir "$TMPDIR/old"; for program in vauban vauban-secret-service; do cp "$VAUBAN_BUILD/$program" "$TMPDIR/old/" || fail 'no second installation'; done
for then in disable enable; do
    setsid --wait "$TMPDIR/old/vauban" enable secret-service --no-kwallet </dev/null 2>/dev/null || fail 'the second installation enables nothing'
    grep -qF "$TMPDIR/old/vauban" "$own" || fail 'the second installation is not started'
    mv "$TMPDIR/old/vauban" "$TMPDIR/old/away"
    doctor "$TMPDIR/old/vauban is gone"
    if [ $then = enable ]; then enable 0; grep -qF "$TMPDIR/old/vauban" "$own" && fail 'the old installation is started'; fi
    disable; nothing_written 'a file of the old installation is left'
    mv "$TMPDIR/old/away" "$TMPDIR/old/vauban"
done

# A variable that is not an absolute path is ignored; a systemd that does not reply, and a folder that cannot be written.
HOME=$TMPDIR/home XDG_DATA_HOME=relative XDG_CONFIG_HOME='' detached enable secret-service --no-kwallet 2>"$TMPDIR/err" ||
    { cat "$TMPDIR/err"; fail 'the Secret Service was not enabled in a home folder'; }
[ -f "$TMPDIR/home/.local/share/dbus-1/services/org.freedesktop.secrets.service" ] && [ ! -e relative ] || fail 'a relative folder counts'
HOME=$TMPDIR/home XDG_DATA_HOME=relative XDG_CONFIG_HOME='' detached disable secret-service 2>/dev/null
[ -z "$(find "$TMPDIR/home" -type f)" ] || fail 'a file was not removed from a home folder'
expect_status 53 env -u HOME -u XDG_DATA_HOME setsid --wait "$VAUBAN_BUILD/vauban" enable secret-service --no-kwallet; err 'No home folder'
mkdir -p "$TMPDIR/runtime/systemd"; : >"$TMPDIR/runtime/systemd/private"
XDG_RUNTIME_DIR=$TMPDIR/runtime enable 0; XDG_RUNTIME_DIR=$TMPDIR/runtime disable; nothing_written 'a file is left'
: >"$XDG_DATA_HOME/xdg-desktop-portal"
enable 53; err "$XDG_DATA_HOME/xdg-desktop-portal"; rm "$XDG_DATA_HOME/xdg-desktop-portal"; nothing_written 'a file is written beside one that cannot be'
. Tests/Scripts/lib/own-mounts.sh
if [ "$(id -u)" = 0 ] && "$has_own_mounts"; then
    mkdir -p "$TMPDIR/fixed"
    # shellcheck disable=SC2016,SC2086
    expect_status 53 env VAUBAN="$VAUBAN_BUILD/vauban" FIXED="$TMPDIR/fixed" unshare $own_mounts sh -c \
        'mount -t tmpfs -o ro tmpfs "$FIXED" && XDG_DATA_HOME=$FIXED/share XDG_CONFIG_HOME=$FIXED/config "$VAUBAN" enable secret-service --no-kwallet </dev/null'
    err 'Read-only file system'
    # Existing files that cannot be removed: that is reported, and the service stays enabled as a whole.
    # shellcheck disable=SC2016,SC2086
    expect_status 53 env VAUBAN="$VAUBAN_BUILD/vauban" FIXED="$TMPDIR/fixed" unshare $own_mounts sh -c 'mount -t tmpfs tmpfs "$FIXED" &&
        export XDG_DATA_HOME=$FIXED/share XDG_CONFIG_HOME=$FIXED/config && "$VAUBAN" enable secret-service --no-kwallet </dev/null 2>/dev/null &&
        find "$FIXED" -type f | wc -l >"$FIXED.before" && mount -o remount,ro "$FIXED" && { "$VAUBAN" disable secret-service; ended=$?; find "$FIXED" -type f | wc -l >"$FIXED.after"; exit $ended; }'
    err 'Read-only file system'; cmp "$TMPDIR/fixed.before" "$TMPDIR/fixed.after" || fail 'only a part is removed'
else
    echo 'not tested, since it needs root: a home folder that cannot be written'
fi
echo 'items are imported before Vauban takes the place of another provider, and files of other programs stay unchanged'
