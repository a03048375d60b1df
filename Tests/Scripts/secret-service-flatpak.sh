#!/usr/bin/env bash
# Apps of a real flatpak, in its sandbox and behind its proxy, with a runtime that is built here: what they use over the Secret Service, and how
# they are distinguished. systemd, which makes a control group for each app, is simulated; without it no app can be identified.
# limit: 600
set -u
for program in flatpak bwrap xdg-dbus-proxy unshare gcc pkg-config; do command -v $program >/dev/null || { echo "there is no $program here"; exit 77; }; done
pkg-config gio-2.0 || { echo "there is no libglib2.0-dev here"; exit 77; }
if [ -z "${VAUBAN_INSIDE:-}" ]; then
    # flatpak looks for systemd in /run before it connects to it.
    [ "$(id -u)" = 0 ] || { echo 'it needs root, to make control groups'; exit 77; }
    . Tests/Scripts/lib/own-mounts.sh
    VAUBAN_INSIDE=1 exec unshare $own_mounts "$0"
fi
. Tests/Scripts/lib/command-line.sh
. Tests/Scripts/lib/secret-service.sh
mount -t tmpfs -o mode=755 tmpfs /run && mkdir -p /run/user/0/systemd || { echo 'it cannot mount here'; exit 77; }
groups=$(findmnt -n -t cgroup2 -o TARGET | head -n 1)
scopes=$groups/vauban-test-$$
{ [ -n "$groups" ] && mkdir "$scopes"; } 2>/dev/null || { echo 'no control groups can be made here'; exit 77; }
finish_all() { { kill "${systemd:-}"; wait "${systemd:-}"; } 2>/dev/null; finish; find "$scopes" -depth -type d -exec rmdir {} + 2>/dev/null; }
trap finish_all EXIT
export XDG_RUNTIME_DIR=$TMPDIR/runtime XDG_CACHE_HOME=$TMPDIR/cache
mkdir -m 700 "$XDG_RUNTIME_DIR" "$XDG_CACHE_HOME"

# A runtime of a client, secret-tool and their libraries; two apps that may talk to the Secret Service.
architecture=$(flatpak --default-arch)
runtime=$TMPDIR/build/runtime
mkdir -p "$runtime"/{usr/bin,usr/lib,files}
printf '[Runtime]\nname=org.example.Platform\nruntime=org.example.Platform/%s/1\nsdk=org.example.Platform/%s/1\n' "$architecture" "$architecture" >"$runtime/metadata"
gcc -O1 -o "$TMPDIR/client" Tests/Scripts/lib/sandboxed-client.c $(pkg-config --cflags --libs gio-2.0) || fail "the client does not compile"
for program in "$TMPDIR/client" "$(command -v secret-tool)" "$(command -v cat)"; do
    cp -L "$program" "$runtime/usr/bin/" || fail "there is no $program"
    ldd "$program" | grep -o '/[^ ]*' | xargs cp -Lt "$runtime/usr/lib/" || fail "$program is not copied"
done
ln -s lib "$runtime/usr/lib64"
built() { flatpak build-export --no-update-summary "$@" >>"$TMPDIR/flatpak.log" 2>&1 || { cat "$TMPDIR/flatpak.log"; echo 'flatpak builds nothing here'; exit 77; }; }
built --runtime "$TMPDIR/build/repository" "$runtime" 1
for app in org.example.App org.example.Other-App; do
    folder=$TMPDIR/build/$app
    mkdir -p "$folder"/{files/bin,export}
    printf '[Application]\nname=%s\nruntime=org.example.Platform/%s/1\nsdk=org.example.Platform/%s/1\ncommand=secret-tool\n\n[Session Bus Policy]\norg.freedesktop.secrets=talk\n' \
        "$app" "$architecture" "$architecture" >"$folder/metadata"
    built "$TMPDIR/build/repository" "$folder" 1
done
{ flatpak build-update-repo "$TMPDIR/build/repository" && flatpak remote-add --user --no-gpg-verify here "$TMPDIR/build/repository" &&
    flatpak install --user --noninteractive here org.example.App//1 org.example.Other-App//1; } >"$TMPDIR/flatpak.log" 2>&1 ||
    { cat "$TMPDIR/flatpak.log"; fail 'the apps are not installed'; }

vauban enable secret-service --no-kwallet 2>/dev/null || fail 'the Secret Service was not enabled'
start_bus
set_passcode
# client APP WORDS...: the client in the sandbox of an app. told EXPECTED APP WORDS...: its output.
client() { timeout "$hang_seconds" flatpak run --user --command=client "org.example.$1" "${@:2}" 2>&1; }
told() { said=$(client "${@:2}"); [ "$said" = "$1" ] || { echo "    $said, not $1: ${*:2}"; return 1; }; }
client App read nothing >"$TMPDIR/out" || { cat "$TMPDIR/out"; echo 'flatpak runs no app here'; exit 77; }
expect_text none "$TMPDIR/out"
printf 'of the user' | secret-tool store --label='Mail of the user' service mail || fail 'nothing is stored'
timeout "$hang_seconds" flatpak run --user --command=cat org.example.App /.flatpak-info >"$TMPDIR/out"; expect_text 'session-bus-proxy=true' "$TMPDIR/out"

# Without systemd flatpak makes no control group. The app cannot be identified: its items belong to another program when it runs again.
told '' App store unnamed 'without a name' || fail 'an app without a name stores nothing'
[ "$(secret-tool lookup service unnamed)" = 'without a name' ] || fail 'the user does not find what an app stored'
told locked App read unnamed || fail 'an app without a name reads what an app stored before'
told locked App read mail || fail "an app without a name reads the user's item"

# With systemd it has the control group that flatpak requests, and is the app of that name, each time that it runs.
mkfifo "$TMPDIR/said"
/usr/bin/python3 Tests/Scripts/lib/played-systemd.py /run/user/0/systemd/private "$scopes" >"$TMPDIR/said" & systemd=$!
exec 7<"$TMPDIR/said"
read -r -t "$hang_seconds" said <&7; [ "$said" = playing ] || fail 'no systemd is played'
told '' App store app 'of the app' || fail 'an app stores nothing'
read -r -t "$hang_seconds" said <&7; [[ $said =~ ^app-flatpak-org\.example\.App-[0-9]+\.scope$ ]] || fail "flatpak requests $said"
told 'secret of the app' App read app || fail 'an app does not find what it stored'
[ "$(secret-tool lookup service app)" = 'of the app' ] || fail 'the user does not find what the app stored'
told locked Other-App read app || fail 'another app reads it'
told '' Other-App store other 'of the other' || fail 'another app stores nothing'
told 'secret of the other' Other-App read other || fail 'an app with a hyphen in its name does not find what it stored'
told locked App read other || fail 'an app reads what an app with another name stored'
told locked App read mail || fail "an app reads the user's item"

# The user consents once, to this app and this item.
printf '#!/bin/bash\nflatpak run --user --command=client org.example.App ask mail >"%s/found" 2>&1 </dev/null &\necho $! >"%s/client.pid"\n' "$TMPDIR" "$TMPDIR" >"$TMPDIR/asks"
printf '#!/bin/sh\ntail -s 0.02 --pid="$(cat "%s/client.pid")" -f /dev/null\n' "$TMPDIR" >"$TMPDIR/wait"
chmod +x "$TMPDIR/asks" "$TMPDIR/wait"
play "$VAUBAN_BUILD/vauban" approve >"$TMPDIR/out" <<STEPS
expect Prompts appear here
run $TMPDIR/asks
expect to let the Flatpak org.example.App use, from now on, what other programs stored: Mail of the user
expect Passcode
secret $passcode
expect Accepted
run $TMPDIR/wait
run [ "\$(cat $TMPDIR/found)" = 'secret of the user' ]
key ctrl-c
STEPS
[ $? = 130 ] || { cat "$TMPDIR/out" "$TMPDIR/found"; fail 'the consent of the user gives an app nothing'; }
told 'secret of the user' App read mail || fail 'the user is prompted for the app again'
told locked Other-App read mail || fail 'the consent is for another app too'

# libsecret in a sandbox stores a file of the app, with a key from the real Secret portal, which determines the app's name from the sandbox.
if [ -x /usr/libexec/xdg-desktop-portal ]; then
    mkdir -p "$XDG_CONFIG_HOME/xdg-desktop-portal"
    printf '[preferred]\norg.freedesktop.impl.portal.Secret=vauban\n' >"$XDG_CONFIG_HOME/xdg-desktop-portal/portals.conf"
    # libsecret 0.20 may subscribe to the portal's response after it has arrived, and then waits forever. The service allows it a second for that;
    # on a machine that halts it may still be too late, and is started again.
    secret_tool() {
        for _ in 1 2 3 4; do
            timeout 60 flatpak run --user "org.example.$1" "${@:2}" 2>&1 <"$TMPDIR/secret"
            status=$?
            [ $status = 124 ] || break
        done
        return $status
    }
    printf 'in a file' >"$TMPDIR/secret"
    secret_tool App store --label=File service file || fail 'libsecret stores nothing in a sandbox'
    [ "$(secret_tool App lookup service file)" = 'in a file' ] || fail 'libsecret does not find what it stored in a sandbox'
    [ -z "$(secret_tool Other-App lookup service file)" ] || fail 'another app finds it'
    vauban list >"$TMPDIR/out"
    expect_text secret-portal/org.example.App "$TMPDIR/out"; expect_text secret-portal/org.example.Other-App "$TMPDIR/out"
    [ "$(vauban get secret-portal/org.example.App --hex)" != "$(vauban get secret-portal/org.example.Other-App --hex)" ] || fail 'two apps have one key'
fi
echo 'apps of a real flatpak use their own items'
