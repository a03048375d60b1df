#!/usr/bin/env bash
# The installed service, from `install` to `uninstall`: with the real scripts, real system users, and the shipped rooms on real sockets,
# started as the installed units say. It runs in a mount namespace of its own with a copy of /etc, so nothing of the machine changes.
# proves: C-034 C-037 C-097
# proves-equivalent: C-236 C-238 C-239 C-242 C-243
# resource: etc
set -u
. Tests/Scripts/lib/deadline.sh
[ "${VAUBAN_TEST_USERS:-0}" = 1 ] || { echo 'it needs root, to be several users'; exit 77; }
for tool in setpriv unshare patchelf systemd-sysusers systemd-tmpfiles systemd-socket-activate systemd-analyze; do
    command -v $tool >/dev/null || { echo "there is no $tool here"; exit 77; }
done
# What of logins is the machine's, and must be the same afterwards: all that pam-auth-update reads and writes.
logins() { { cat /etc/pam.d/common-* /var/lib/pam/* /var/cache/debconf/config.dat; ls /usr/share/pam-configs /usr/share/polkit-1/rules.d /etc/systemd/system; } 2>/dev/null | sha256sum; }
templates=dpkg/info/libpam-runtime.templates
. Tests/Scripts/lib/own-mounts.sh
if [ -z "${VAUBAN_INSIDE:-}" ]; then
    # As a release is laid out; the checkout may lie where only root can enter.
    mkdir -p "$TMPDIR/release/programs" && chmod 755 "$TMPDIR" && cp -R Install Browser Manual Specs scripts LICENSE SECURITY.md "$TMPDIR/release/" || exit 1
    scripts/build-programs --collect "$VAUBAN_BUILD" "$TMPDIR/release/programs" || exit 1
    [ -x "$VAUBAN_BUILD/pty-play" ] || { echo 'pty-play is not built'; exit 77; }
    cp "$VAUBAN_BUILD/pam_vauban.so" "$VAUBAN_BUILD/vauban-protect" "$TMPDIR/release/programs/" || exit 1
    cp -a /etc "$TMPDIR/etc" && mkdir "$TMPDIR/state" && install -d -m 755 -o vauban-test-alice -g vauban-test-alice "$TMPDIR/home" || exit 1
    cp -R Manual "$TMPDIR/manual" && chmod -R a+rX "$TMPDIR/manual"
    [ ! -d /usr/share/pam-configs ] || cp -a /usr/share/pam-configs "$TMPDIR/pam-configs" || exit 1
    [ ! -d /usr/share/polkit-1/rules.d ] || cp -a /usr/share/polkit-1/rules.d "$TMPDIR/polkit" || exit 1
    debian=
    if command -v pam-auth-update >/dev/null && [ -e "/var/lib/$templates" ]; then
        debian=1
        cp -a /var/cache/debconf "$TMPDIR/debconf" && cp -a /var/lib/pam "$TMPDIR/state/pam" || exit 1
        mkdir -p "$TMPDIR/state/dpkg/info" && cp "/var/lib/$templates" "$TMPDIR/state/$templates" || exit 1
    fi
    logins=$(logins)
    version=$(scripts/version) manual=$TMPDIR/manual debian=$debian VAUBAN_INSIDE=1 unshare $own_mounts --pid --fork --kill-child --mount-proc "$0"
    status=$?
    [ "$(logins)" = "$logins" ] || { echo 'FAILED: logins of this machine are not what they were'; exit 1; }
    exit $status
fi
unset VAUBAN_HOME XDG_RUNTIME_DIR XDG_DATA_HOME XDG_CONFIG_HOME PREFIX DESTDIR MODE
cd "$TMPDIR/release" || exit 1
PATH=$PATH:/usr/sbin:/sbin
mount --bind "$TMPDIR/etc" /etc && mount -t tmpfs -o mode=755 tmpfs /run && mount --bind "$TMPDIR/state" /var/lib || { echo 'it cannot mount here'; exit 77; }
[ ! -d /usr/share/pam-configs ] || mount --bind "$TMPDIR/pam-configs" /usr/share/pam-configs || { echo 'it cannot mount here'; exit 77; }
[ -z "$debian" ] || mount --bind "$TMPDIR/debconf" /var/cache/debconf || { echo 'it cannot mount here'; exit 77; }
[ ! -d /usr/share/polkit-1/rules.d ] || mount --bind "$TMPDIR/polkit" /usr/share/polkit-1/rules.d || { echo 'it cannot mount here'; exit 77; }
# This machine may have Vauban installed, or its users from when it had; the copy has not.
for user in enclave keychain auth witness watcher reader fetcher; do ! getent passwd vauban-$user >/dev/null || userdel vauban-$user; done
! getent group vauban-rooms >/dev/null || groupdel vauban-rooms
[ -z "$debian" ] || { rm -f /usr/share/pam-configs/vauban; DEBIAN_FRONTEND=noninteractive pam-auth-update --package --force; }
rm -rf /etc/vauban /etc/ld.so.preload /etc/shadow-maint/userdel-post.d/vauban /usr/share/polkit-1/rules.d/60-vauban.rules /etc/systemd/system/*/vauban-* && echo 0123456789abcdef0123456789abcdef >/etc/machine-id
prefix=$TMPDIR/prefix
export PREFIX=$prefix

failures=0
check() { what=$1; shift; if "$@"; then echo "ok: $what"; else echo "FAILED: $what"; failures=$((failures + 1)); fi; }
equals() { [ "$1" = "$2" ] || { echo "    $1, not $2"; return 1; }; }
refused() { want=$1; shift; "$@" >/dev/null 2>&1 </dev/null; equals $? "$want"; }
as() { user=$1; shift; setpriv --reuid "$user" --regid "$user" --clear-groups "$@"; }
alice() { as vauban-test-alice env HOME="$TMPDIR/home" "$prefix/bin/vauban" "$@"; }
# What tools keep of the user database beside it is theirs, and so is what systemd-analyze leaves.
tree() { find /etc /run /var/lib /usr/share/pam-configs /usr/share/polkit-1 "$TMPDIR"/{prefix,home} 2>/dev/null | grep -vE '^/etc/((passwd|group|shadow|gshadow|subuid|subgid)-?|\.pwd\.lock|\.updated)$|^/run/systemd(/systemd-units-load)?$' | sort; }
stacks() { cat /etc/pam.d/common-* /var/lib/pam/* 2>/dev/null; }
# in_stacks COUNT: how many of the stacks that a user's login reads name the installed module.
in_stacks() { equals "$(cat /etc/pam.d/common-{auth,session,password} | grep -c "^[a-z]*[[:space:]]*optional[[:space:]]*$prefix/lib/vauban/pam_vauban.so program=$prefix/lib/vauban/vauban\$")" "$1"; }
people() { cut -d: -f1,3 /etc/passwd /etc/group | sort; }

tree >"$TMPDIR/before"; people >"$TMPDIR/people"; stacks >"$TMPDIR/stacks"

# What somebody else has laid where it is to go is not believed.
hostile() { # hostile WHAT COMMAND...: refused before anything is written
    what=$1; shift; "$@"; find "$prefix" -printf '%p %u %m %s\n' | sort >"$TMPDIR/laid"
    check "$what: it does not install" eval '! scripts/install >"$TMPDIR/out" 2>&1 && grep -q "$prefix" "$TMPDIR/out" && find "$prefix" -printf "%p %u %m %s\n" | sort | diff "$TMPDIR/laid" -'
    rm -rf "$prefix"
}
laid() { mkdir -p "$prefix/lib/vauban" && printf '/etc/passwd\n' >"$prefix/lib/vauban/manifest"; }
hostile 'where another user owns the folder' eval 'laid; chown vauban-test-alice "$prefix/lib/vauban"'
hostile 'where another user owns the list of what is removed' eval 'laid; chown vauban-test-alice "$prefix/lib/vauban/manifest"'
hostile 'where others can change it' eval 'laid; chmod 666 "$prefix/lib/vauban/manifest"'
hostile 'where others can add programs' eval 'mkdir -p "$prefix/bin"; chmod 777 "$prefix/bin"'
hostile 'where the folder is a link' eval 'mkdir -p "$prefix/lib" && ln -s "$TMPDIR/home" "$prefix/lib/vauban"'
laid; chown vauban-test-alice "$prefix/lib/vauban/manifest"
check 'nor does uninstalling believe it' eval '! scripts/uninstall >"$TMPDIR/out" 2>&1 && [ -e /etc/passwd ] && [ -e "$prefix/lib/vauban/manifest" ]'
rm -rf "$prefix"

check 'a prefix that a unit cannot name is refused' eval 'refused 1 env PREFIX="$TMPDIR/a&b" scripts/install && refused 1 env PREFIX="$TMPDIR/a:b" scripts/install && ! [ -e "$TMPDIR/a&b" ]'

# Installed and removed unused: nothing at all is left.
scripts/install >"$TMPDIR/out" 2>&1; status=$?
[ $status = 0 ] || ! grep -q 'others than root can change' "$TMPDIR/out" || { cat "$TMPDIR/out"; exit 77; }
[ $status = 0 ] || { cat "$TMPDIR/out"; echo "it does not install: status $status"; exit 1; }
check 'no installer makes a device secret' equals "$(find /var/lib/vauban -type f)" ''
check 'no second installation beside it is made' eval '! PREFIX=$TMPDIR/second scripts/install >"$TMPDIR/out" 2>&1 && grep -q "already installed in $prefix" "$TMPDIR/out" && ! [ -e "$TMPDIR/second" ]'
check 'nor by the package' eval 'refused 1 sh Install/debian/preinst install && ! [ -e /run/vauban-first ]'
# A step fails after the files were removed.
mkdir "$TMPDIR/fails"; printf '#!/bin/sh\ncase "$*" in */run/vauban/enclave*) exit 1 ;; esac\nexec /bin/rm "$@"\n' >"$TMPDIR/fails/rm"; chmod 755 "$TMPDIR/fails/rm"
check 'uninstalling stops where a step fails' eval '! PATH=$TMPDIR/fails:$PATH scripts/uninstall >"$TMPDIR/out" 2>&1 && ! [ -e "$prefix/lib/vauban/vauban" ]'
check 'and can be repeated then' eval '[ -e "$prefix/lib/vauban/manifest" ]'
check 'uninstalling what nobody used works' eval 'scripts/uninstall >"$TMPDIR/out" 2>&1'
check 'and leaves nothing' eval 'tree | diff "$TMPDIR/before" -'
check 'and nobody' eval 'people | diff "$TMPDIR/people" -'
check 'and logins as they were' eval 'stacks | diff "$TMPDIR/stacks" -'

# Stacks of logins that were changed by hand stay so, and that is said.
if [ -n "$debian" ]; then
    cp /etc/pam.d/common-auth "$TMPDIR/common-auth"; sed -i '/^#/d' /etc/pam.d/common-auth; stacks >"$TMPDIR/changed"
    scripts/install >"$TMPDIR/out" 2>&1
    check 'stacks that were changed by hand are left alone' eval 'stacks | diff "$TMPDIR/changed" - && in_stacks 0'
    check 'which the installer says' grep -q 'you changed the stacks in /etc/pam.d' "$TMPDIR/out"
    echo "auth optional $prefix/lib/vauban/pam_vauban.so" >/etc/pam.d/vauban-test-login
    scripts/uninstall >"$TMPDIR/out" 2>&1
    check 'and uninstalling names the lines that stay' grep -q 'lines that name pam_vauban, in /etc/pam.d/vauban-test-login' "$TMPDIR/out"
    rm /etc/pam.d/vauban-test-login; cp "$TMPDIR/common-auth" /etc/pam.d/common-auth
    check 'nothing else is left of it' eval 'stacks | diff "$TMPDIR/stacks" - && tree | diff "$TMPDIR/before" -'
fi

# A package that was removed and is installed again is not an upgrade: what the removal disabled is enabled.
mkdir "$TMPDIR/noted"
for tool in systemctl systemd-sysusers systemd-tmpfiles chgrp chmod pam-auth-update deb-systemd-invoke; do
    printf '#!/bin/sh\necho "${0##*/} $*" >>"%s/calls"\n' "$TMPDIR" >"$TMPDIR/noted/$tool"
done
chmod 755 "$TMPDIR"/noted/*
# package VERB VERSION: what dpkg runs of the package's scripts to install it. The second argument is the version that was configured last.
package() { : >"$TMPDIR/calls"; PATH=$TMPDIR/noted:$PATH sh Install/debian/preinst "$1" "$2" && PATH=$TMPDIR/noted:$PATH sh Install/debian/postinst configure "$2" >"$TMPDIR/out"; }
enables() { grep -q '^systemctl enable .*vauban-keychaind\.socket' "$TMPDIR/calls"; }
check 'a package that is installed first enables the sockets' eval 'package install "" && enables'
check 'so does one that was removed before' eval 'package install "$version" && enables && grep -q "vauban passcode set" "$TMPDIR/out"'
check 'an upgrade does not' eval 'package upgrade "$version" && grep -q ^pam-auth-update "$TMPDIR/calls" && ! enables && ! [ -e /run/vauban-first ]'

# What it makes. An installation that was interrupted after its files were there leaves this:
VAUBAN_UNFINISHED=1 scripts/stage --system "$PWD/programs" '' "$prefix" >"$TMPDIR/out" 2>&1 || cat "$TMPDIR/out"
check 'it installs again' eval 'scripts/install >"$TMPDIR/out" 2>&1'
check 'and says what comes next' grep -q 'vauban passcode set' "$TMPDIR/out"
check 'and enables the sockets, although files were there' eval 'systemctl is-enabled vauban-enclaved.socket >/dev/null 2>&1 && systemctl is-enabled vauban-keychaind.socket >/dev/null 2>&1'
check 'and is finished' eval '! [ -e "$prefix/lib/vauban/unfinished" ]'
check 'the roster is root'"'"'s, for all to read' equals "$(stat -c '%U:%G %a' /etc/vauban/rooms)" 'root:root 644'
check 'the folder of sockets is root'"'"'s' equals "$(stat -c '%U:%G %a' /run/vauban)" 'root:root 755'
for room in enclave keychain reader; do
    check "the state of $room is its user's alone" equals "$(stat -c '%U:%G %a' /var/lib/vauban/$room)" "vauban-$room:vauban-$room 700"
done
check 'all that the list names is there' eval 'while IFS= read -r file; do [ -e "$file" ] || { echo "$file"; false; }; done <"$prefix/lib/vauban/manifest"'
check 'the programs with a network are one file' eval 'for program in vauban-sync-etcd vauban-ats; do [ "$prefix/lib/vauban/$program" -ef "$prefix/lib/vauban/vauban-fetcher" ] || exit 1; done'
check 'ICU has its data of English, and of no other language' eval 'grep -aqE "icudt[0-9]+l/en\.res" "$prefix"/lib/vauban/swift-*/lib_FoundationICU.so && ! grep -aqE "icudt[0-9]+l/de\.res" "$prefix"/lib/vauban/swift-*/lib_FoundationICU.so'
check 'it tells its version' equals "$("$prefix/bin/vauban" --version)" "$version"
check 'the manual is installed, each page' eval '(cd "$manual" && ls *.md) | diff - <(cd "$prefix/share/doc/vauban/Manual" && ls *.md)'
check 'each link of its pages leads to a file' eval '(cd "$prefix/share/doc/vauban/Manual" &&
    links=$(grep -ohE "\]\([^):#]+" *.md | cut -c3- | grep -vx https | sort -u) && [ "$(wc -l <<<"$links")" -gt 30 ] &&
    while IFS= read -r link; do [ -f "$link" ] || { echo "$link"; exit 1; }; done <<<"$links")'
check 'licenses of what the programs contain are installed' eval 'cmp Install/NOTICES "$prefix/share/doc/vauban/NOTICES"'
check 'and help names a page that is there' eval '"$prefix/bin/vauban" help | tr -d " \n" | grep -qF "everycommand:$prefix/share/doc/vauban/Manual/command-line.md" && [ -r "$prefix/share/doc/vauban/Manual/command-line.md" ]'
check 'each program has a page' eval 'for program in $(scripts/programs); do ls "$prefix"/share/man/man[18]/"$program".[18] >/dev/null || exit 1; done'
check 'shells find what completes it' eval 'grep -q "complete -o filenames -F" "$prefix/share/bash-completion/completions/vauban" && grep -q "^#compdef vauban" "$prefix/share/zsh/site-functions/_vauban" && grep -q "complete -c" "$prefix/share/fish/vendor_completions.d/vauban.fish"'
check 'git finds its helper, which has a page' eval '[ -x "$prefix/bin/git-credential-vauban" ] && equals "$("$prefix/bin/git-credential-vauban" --help | grep -c "^USAGE: git-credential")" 1 && [ -e "$prefix/share/man/man1/git-credential-vauban.1" ]'
check 'docker finds its helper, which has a page' eval '[ -x "$prefix/bin/docker-credential-vauban" ] && equals "$("$prefix/bin/docker-credential-vauban" --help | grep -c "^USAGE: docker-credential")" 1 && [ -e "$prefix/share/man/man1/docker-credential-vauban.1" ]'
check 'so has the login'"'"'s module, and what the administrator writes' eval '[ -e "$prefix/share/man/man8/pam_vauban.8" ] && [ -e "$prefix/share/man/man5/vauban-rooms.5" ] && [ -e "$prefix/share/man/man5/vauban-entitlements.5" ]'
check 'the login'"'"'s module is root'"'"'s, to be read' equals "$(stat -c '%U:%G %a' "$prefix/lib/vauban/pam_vauban.so")" 'root:root 644'
if [ -n "$debian" ]; then
    check 'three stacks of logins name it' in_stacks 3
    check 'and it is said how to switch that off' grep -q 'pam-auth-update --disable vauban' "$TMPDIR/out"
else
    check 'where nothing writes stacks of logins none is changed' eval 'stacks | diff "$TMPDIR/stacks" -'
fi
# shellcheck disable=SC2016
check 'they load Swift from beside them and from nowhere else' eval 'for program in $(scripts/programs); do
    ldd "$prefix/lib/vauban/$program" | grep -E "libswift|Foundation" >"$TMPDIR/loaded" && ! grep -vF " $prefix/lib/vauban/swift-" "$TMPDIR/loaded" || exit 1
done'
check 'programs are root'"'"'s' eval '! find "$prefix" ! -user root | grep -q . && ! find "$prefix" -type f -perm /022 | grep -q .'
units=/etc/systemd/system
value() { sed -n "s/^$1=//p" "$units/$2"; }
check 'systemd finds no fault in the units' eval 'systemd-analyze verify --man=no "$units"/vauban-*.socket "$units"/vauban-*.service >"$TMPDIR/verify" 2>&1 && ! [ -s "$TMPDIR/verify" ] || { cat "$TMPDIR/verify"; false; }'
check 'the sandbox is in each unit' eval 'for unit in "$units"/vauban-*.service; do case $unit in */vauban-fetcher.service) network= ;; *) network="PrivateNetwork=yes RestrictAddressFamilies=AF_UNIX" ;; esac; case $unit in */vauban-witness.service) ;; *) network="$network NoNewPrivileges=yes" ;; esac; for line in $network ProtectSystem=strict MemoryDenyWriteExecute=yes SystemCallArchitectures=native LimitCORE=0; do grep -qxF $line "$unit" || { echo "$unit has no $line"; exit 1; }; done; done'
check 'what would blind the witness is not in its unit' eval '! grep -qE "^(ProtectProc|ProcSubset|ProtectHome|PrivateTmp|PrivateUsers|PrivatePIDs|NoNewPrivileges)=" "$units/vauban-witness.service"'

check 'the program that protects others has a group of its own' equals "$(stat -c '%U:%G %a' "$prefix/lib/vauban/vauban-protect")" 'root:vauban-protected 2755'
check 'which loads the C library alone' eval '! ldd "$prefix/lib/vauban/vauban-protect" | grep -vE "linux-vdso|libc\.so|ld-linux"'
check 'the files are verified when the machine starts' eval 'systemctl is-enabled vauban-integrity.service >"$TMPDIR/out" 2>&1 && equals "$(value ExecStart vauban-integrity.service)" "$prefix/lib/vauban/vauban integrity verify"'

# Integrity: each layer alone, and what the others say when it fails.
integrity() { "$prefix/bin/vauban" integrity "$@" >"$TMPDIR/integrity" 2>&1; }
as_installed() { integrity verify || { cat "$TMPDIR/integrity"; return 1; }; }
# altered NAME WHAT: verify and status notice it, verify names the file, and both end with 1.
altered() { integrity verify; equals $? 1 && grep -q "/$1 .*$2" "$TMPDIR/integrity" || { cat "$TMPDIR/integrity"; return 1; }; integrity status; equals $? 1 && grep -q ALTERED "$TMPDIR/integrity"; }
check 'every file is as it was installed' as_installed
check 'and to a user' eval 'as vauban-test-alice "$prefix/bin/vauban" integrity verify >"$TMPDIR/out" 2>&1 || { cat "$TMPDIR/out"; false; }'
check 'nothing is altered or weaker' eval 'integrity status || { cat "$TMPDIR/integrity"; false; }'
check 'which is also told in JSON' eval 'integrity status --json; python3 -c "import json, sys; document = json.load(open(sys.argv[1])); assert document[\"good\"] and len(document[\"checks\"]) > 12 and all(check[\"by\"] for check in document[\"checks\"])" "$TMPDIR/integrity"'
# As an image-based distribution has them: on a mount that is read-only.
if mount --bind "$prefix/lib/vauban" "$prefix/lib/vauban" && mount -o remount,bind,ro "$prefix/lib/vauban"; then
    check 'a read-only mount of the programs is told' eval 'integrity status && grep -q "^  met  *read-only .*is on a read-only mount" "$TMPDIR/integrity" || { cat "$TMPDIR/integrity"; false; }'
else
    echo 'open: read-only mounts: a mount cannot be made read-only here'
fi
umount --lazy "$prefix/lib/vauban" 2>/dev/null
check 'and a writable one' eval 'integrity status && grep -q "^  not met  *read-only .*is on a writable mount" "$TMPDIR/integrity" || { cat "$TMPDIR/integrity"; false; }'
cp -a "$prefix/lib/vauban/authd" "$TMPDIR/authd"
printf '#' >>"$prefix/lib/vauban/authd"
check 'one byte more in a program is found' altered authd 'has other contents'
cp -a "$TMPDIR/authd" "$prefix/lib/vauban/authd.back" && mv "$prefix/lib/vauban/authd.back" "$prefix/lib/vauban/authd"
chmod 4777 "$prefix/lib/vauban/authd"
check 'and another mode' altered authd 'has mode 4777, not 0755'
chmod 755 "$prefix/lib/vauban/authd"; chown vauban-test-alice "$prefix/lib/vauban/authd"
check 'and another owner' altered authd 'belongs to vauban-test-alice:root, not to root:root'
chown root "$prefix/lib/vauban/authd"; mv "$prefix/lib/vauban/authd" "$TMPDIR/authd.moved"
check 'and a missing one' altered authd 'is missing'
mv "$TMPDIR/authd.moved" "$prefix/lib/vauban/authd"; echo >"$prefix/lib/vauban/planted.so"
check 'and one that was not installed' altered planted.so 'is not part of the installation'
rm "$prefix/lib/vauban/planted.so"; chmod 777 "$prefix/lib/vauban"
check 'and programs that others can replace' altered authd 'can be replaced by others'
chmod 755 "$prefix/lib/vauban"; ln -sfn /bin/sh "$prefix/bin/vauban.new" && mv -T "$prefix/bin/vauban.new" "$prefix/bin/git-credential-vauban"
check 'and a link elsewhere' altered git-credential-vauban 'leads to /bin/sh'
ln -sfn ../lib/vauban/vauban "$prefix/bin/vauban.new" && mv -T "$prefix/bin/vauban.new" "$prefix/bin/git-credential-vauban"
mkdir -p "$units/vauban-enclaved.service.d" && printf '[Service]\nMemoryMax=1G\n' >"$units/vauban-enclaved.service.d/own.conf"
check 'an administrator may limit a unit' integrity status
printf '[Service]\nProtectSystem=no\n' >"$units/vauban-enclaved.service.d/own.conf"
# overridden WHAT: status shows it as altered, and so does verify, which runs when the machine starts.
overridden() { ! integrity status && grep -q "ALTERED.*$1" "$TMPDIR/integrity" && ! integrity verify && grep -q "^[a-z ]*: .*$1" "$TMPDIR/integrity" || { cat "$TMPDIR/integrity"; return 1; }; }
check 'but a weaker sandbox is told' overridden 'own.conf changes vauban-enclaved.service'
rm -r "$units/vauban-enclaved.service.d"
# One of every unit, of every unit of ours, of a socket, and one whose lines end as on other systems.
for place in service.d vauban-.service.d vauban-enclaved.socket.d; do
    mkdir -p "$units/$place" && printf '[Service]\r\nMemoryMax=1G\r\nProtectSystem=no\r\n' >"$units/$place/own.conf"
    check "and so is a drop-in in $place" overridden "$place/own.conf changes vauban-"
    rm -r "$units/$place"
done
install -D -m 644 "$units/vauban-enclaved.service" /etc/systemd/system.control/vauban-enclaved.service
check 'and a unit that systemd prefers' overridden 'system.control/vauban-enclaved.service changes vauban-enclaved.service'
rm -r /etc/systemd/system.control
# The C library, which is in each program anyway.
echo libc.so.6 >/etc/ld.so.preload
check 'and libraries for every program' overridden '/etc/ld.so.preload puts libraries into every program'
rm /etc/ld.so.preload; mkdir -p /etc/systemd/system.conf.d
printf '[Manager]\nDefaultEnvironment=A=b LD_LIBRARY_PATH=/none\n' >/etc/systemd/system.conf.d/vauban-test.conf
check 'and a variable of the loader for every unit' overridden 'DefaultEnvironment= in /etc/systemd/system.conf.d/vauban-test.conf sets an LD_ variable'
rm /etc/systemd/system.conf.d/vauban-test.conf; rmdir --ignore-fail-on-non-empty /etc/systemd/system.conf.d
chmod 664 "$prefix/lib/vauban/integrity"
check 'and a manifest that others can change' altered integrity 'has mode 0664, not 0644'
chmod 644 "$prefix/lib/vauban/integrity"; chmod 666 /etc/vauban/rooms
check 'and a list of rooms that others can change' overridden /etc/vauban/rooms
chmod 644 /etc/vauban/rooms; install -d -m 755 /etc/vauban/entitlements; printf '<plist version="1.0"><dict/></plist>' >/etc/vauban/entitlements/mail.plist
check 'what root permits programs is named, and is no alteration' eval 'integrity status && grep -q "not met.*no grants of root.*mail.plist" "$TMPDIR/integrity"'
rm /etc/vauban/entitlements/mail.plist; rmdir /etc/vauban/entitlements 2>/dev/null; chmod 755 /var/lib/vauban/enclave
check 'and state that others can enter' overridden /var/lib/vauban/enclave
chmod 700 /var/lib/vauban/enclave
check 'all is as it was again' eval 'as_installed && integrity status'
# Whether this kernel refuses unsigned modules, asked of the kernel itself with a file that is no module: it checks signatures first.
printf 'no module' >"$TMPDIR/none.ko"
# As root, unless its right to load modules was taken away.
if [ $((0x$(sed -n 's/^CapEff:[[:space:]]*//p' /proc/self/status) >> 16 & 1)) = 1 ]; then
    refusal=$(python3 -c 'import ctypes, os, platform, sys; c = ctypes.CDLL(None, use_errno=True); c.syscall({"x86_64": 313, "aarch64": 273}[platform.machine()], os.open(sys.argv[1], os.O_RDONLY), b"", 0); print(ctypes.get_errno())' "$TMPDIR/none.ko")
    # ENOEXEC: it would take an unsigned one.
    if [ "$refusal" = 8 ]; then signed='not met'; else signed=met; fi
    check "the kernel's word on unsigned modules (errno $refusal) is what is told" eval 'integrity status; grep -q "^  $signed  *signed modules" "$TMPDIR/integrity" || { cat "$TMPDIR/integrity"; false; }'
else
    echo 'open: signed modules: root may not load modules here'
fi
# The mark that the kernel heeds, for root too.
check 'a user cannot set it' eval '! as vauban-test-alice "$prefix/bin/vauban" integrity enable >"$TMPDIR/out" 2>&1 && grep -q "Only root" "$TMPDIR/out"'
if integrity enable; then
    check 'immutable files: root cannot write, rename or remove them, nor add to their folder' eval '! printf x 2>/dev/null >>"$prefix/lib/vauban/authd" && ! mv "$prefix/lib/vauban/authd" "$TMPDIR/" 2>/dev/null && ! rm -f "$prefix/lib/vauban/integrity" 2>/dev/null && ! rm -f "$units/vauban-enclaved.service" 2>/dev/null && ! touch "$prefix/lib/vauban/planted.so" 2>/dev/null && as_installed'
    check 'which is told' eval 'integrity status && grep -q "^  met  *immutable" "$TMPDIR/integrity"'
    chattr -i "$prefix/lib/vauban/authd"
    check 'and that one lost the mark' overridden 'lost the flag'
    check 'it is set again' integrity enable
    check 'an upgrade goes through, and sets it again' eval 'scripts/install >"$TMPDIR/out" 2>&1 || { cat "$TMPDIR/out"; false; }; lsattr -d "$prefix/lib/vauban" "$prefix/lib/vauban/authd" | grep -c "^....i" | grep -qx 2 && as_installed'
    check 'it can be taken away' eval 'integrity disable && ! lsattr "$prefix/lib/vauban" | grep -q "^....i" && printf "" >>"$prefix/lib/vauban/authd"'
    check 'and set before it is removed' integrity enable
else
    cat "$TMPDIR/integrity"
    echo 'open: immutable files: files have no such flag here, or root may not set it'
    check 'where files have no such mark, that is said and nothing is changed' eval 'grep -q "no immutable flag\|CAP_LINUX_IMMUTABLE" "$TMPDIR/integrity" && as_installed'
fi
check 'uninstalling takes it away first' eval 'scripts/uninstall >"$TMPDIR/out" 2>&1 || { cat "$TMPDIR/out"; false; }; tree | diff "$TMPDIR/before" - && people | diff "$TMPDIR/people" -'
check 'and it installs once more' eval 'scripts/install >"$TMPDIR/out" 2>&1 || { cat "$TMPDIR/out"; false; }'

# A new installation may give the rooms other uids than those that their restored state has.
touch /var/lib/vauban/reader/left && chown -R 61234:61234 /var/lib/vauban/reader
check 'state of another uid is given to its room' eval 'systemd-tmpfiles --create /etc/tmpfiles.d/vauban.conf && equals "$(stat -c "%U:%G" /var/lib/vauban/reader/left)" vauban-reader:vauban-reader'
rm /var/lib/vauban/reader/left

# The rooms, as the units say.
# started SERVICE COMMAND...: puts the unit's user, rights and program behind the command, and runs it.
started() {
    unit=$1; shift
    caps=$(value AmbientCapabilities "$unit" | tr A-Z a-z | sed 's/cap_/,+/g; s/ //g')
    rights="--reuid $(value User "$unit") --regid $(value Group "$unit") --init-groups --inh-caps -all$caps --bounding-set -all$caps"
    [ -z "$caps" ] || rights="$rights --ambient-caps ${caps#,}"
    [ "$(value NoNewPrivileges "$unit")" = yes ] && rights="$rights --no-new-privs"
    exec "$@" setpriv $rights $(value ExecStart "$unit") 2>>"$TMPDIR/log.$unit"
}
pids=
room() {
    name=$1
    path=$(value ListenStream "$name.socket")
    rm -f "$path"
    (started "$name.service" systemd-socket-activate --fdname="$(value FileDescriptorName "$name.socket")" -l "$path") & pids="$pids $!"
    eval "pid_${name#vauban-}=$!"
    until [ -S "$path" ]; do kill -0 $! || break; done
    chown "$(value SocketUser "$name.socket"):$(value SocketGroup "$name.socket")" "$path" 2>/dev/null
    chmod "$(value SocketMode "$name.socket")" "$path"
}
rooms() { for name in vauban-enclaved vauban-keychaind vauban-authd vauban-fetcher; do room "$name"; done; }
attendants() { for name in vauban-witness vauban-watcher vauban-reader; do (started "$name.service" env -i PATH="$PATH") & pids="$pids $!"; eval "pid_${name#vauban-}=$!"; done; }
stop() { for pid in $pids; do kill "$pid"; wait "$pid"; done 2>/dev/null; pids=; }
rooms
check 'users cannot connect to the socket of enclaved' eval 'equals "$(stat -c "%U:%G %a" /run/vauban/enclave)" "root:vauban-rooms 660" && ! as vauban-test-alice test -w /run/vauban/enclave'
check 'they can at the other two' eval 'as vauban-test-alice test -w /run/vauban/keychain && as vauban-test-alice test -w /run/vauban/authentication'
check 'while only sockets listen there is no device secret' equals "$(find /var/lib/vauban -type f)" ''
check 'the first use starts the rooms' eval 'alice status >"$TMPDIR/status" 2>&1 || { cat "$TMPDIR/status"; false; }'
check 'it is the installed service' grep -q '^Mode .*system' "$TMPDIR/status"
check 'and makes the device secret, the enclave'"'"'s alone' equals "$(stat -c '%U:%G %a' /var/lib/vauban/enclave/device-secret)" 'vauban-enclave:vauban-enclave 600'
attendants
rights() { sed -n 's/^CapEff:[[:space:]]*0*//p' "/proc/$1/status"; }
for name in enclaved authd; do
    pid=pid_$name
    check "$name has no right of root's and cannot get one" eval 'equals "$(rights ${!pid})" "" && grep -q "^NoNewPrivs:[[:space:]]*1" "/proc/${!pid}/status" && equals "$(grep ^CapBnd: /proc/${!pid}/status | tr -d "[:space:]0")" CapBnd:'
done
# setpriv becomes the program a moment after it was started.
is_witness() { [ "$(cat "/proc/$pid_witness/comm")" = vauban-witness ]; }
eventually is_witness
check 'the witness has one, to look at others' equals "$(rights "$pid_witness")" 80000
check 'it sees which files are root'"'"'s' eval '! grep "mounted nosuid" "$TMPDIR/log.vauban-witness.service"'
(started vauban-witness.service unshare $own_mounts sh -c 'mount --bind "$0" "$0" && mount -o remount,bind,nosuid "$0" && exec "$@"' "$prefix") 2>/dev/null & blind=$!
is_blind() { grep -q "mounted nosuid" "$TMPDIR/log.vauban-witness.service"; }
eventually is_blind
check 'and reports it if it cannot' is_blind
{ kill "$blind"; wait "$blind"; } 2>/dev/null

printf 'alice passcode\n' >"$TMPDIR/passcode"
unlock() { alice unlock --passcode-fd 3 3<"$TMPDIR/passcode" 2>/dev/null; }
check 'alice sets a passcode' eval 'alice passcode set --passcode-fd 3 3<"$TMPDIR/passcode" 2>/dev/null'
check 'she stores a secret' eval 'printf "kept" | alice set mail/me 2>/dev/null'
check 'and reads it' equals "$(alice get mail/me)" kept
check 'she locks, and it is closed' eval 'alice lock 2>/dev/null; refused 36 alice get mail/me --no-input'
# What limits root: while it is locked, the value is in no file of the state, and the settings that weaken it ask for the passcode.
check 'root finds nothing of it in the state' eval '! grep -rqF kept /var/lib/vauban'
check 'settings that weaken it are refused without the passcode' eval 'refused 36 alice settings --idle never --no-input && printf "wrong passcode\n" >"$TMPDIR/wrong" && ! alice settings --grace 1h --passcode-fd 3 3<"$TMPDIR/wrong" 2>/dev/null && refused 36 alice allow terminal-prompts on --no-input'
check 'and changed with it' eval 'alice settings --grace 5s --passcode-fd 3 3<"$TMPDIR/passcode" 2>/dev/null >"$TMPDIR/out" && grep -q "5 s" "$TMPDIR/out" && alice settings --grace 0 --passcode-fd 3 3<"$TMPDIR/passcode" >/dev/null 2>&1'
check 'root has settings of its own keychain only' eval 'HOME=/nonexistent "$prefix/bin/vauban" settings >/dev/null 2>&1; ! HOME=/nonexistent "$prefix/bin/vauban" settings --idle 5m --passcode-fd 3 3<"$TMPDIR/wrong" >"$TMPDIR/out" 2>&1; alice settings --json | grep -q "\"idleSeconds\" : 0"'
check 'the databases are their room'"'"'s alone' eval '[ -n "$(find /var/lib/vauban/keychain -type f)" ] && ! find /var/lib/vauban/keychain -type f \( ! -user vauban-keychain -o -perm /077 \) | grep .'

# The client alone, as in a container that has the sockets and a list of numbers, and knows nobody by name (Manual/containers.md).
recipe=$(sed -n "s/^    \(awk .*\) >.*/\1/p" "$manual/containers.md")
eval "$recipe" >"$TMPDIR/numbers"
sed '/vauban-[a-z]*:/{/vauban-test/!d}' /etc/passwd >"$TMPDIR/passwd"
boxed() { unshare $own_mounts --pid --fork --mount-proc bash -c 'mount --bind "$0/passwd" /etc/passwd && mount --bind "$0/numbers" /etc/vauban/rooms && ! getent passwd vauban-enclave >/dev/null && shift 0 && exec setpriv --reuid vauban-test-alice --regid vauban-test-alice --clear-groups env HOME=/nonexistent "$1/bin/vauban" get mail/me --no-input' "$TMPDIR" "$prefix"; }
check 'from within a container she reads it again' eval 'unlock; equals "$(boxed)" kept'

# A login with the installed module, whose password is the passcode.
if [ -n "$debian" ] && command -v pamtester >/dev/null; then
    chpasswd -c SHA512 -s 1000 <<<'vauban-test-alice:alice passcode'
    printf '@include common-%s\n' auth account session >/etc/pam.d/vauban-test-login
    login() { timeout "$hang_seconds" pamtester vauban-test-login vauban-test-alice authenticate acct_mgmt 'setcred(PAM_ESTABLISH_CRED)' open_session close_session <<<'alice passcode' >"$TMPDIR/out" 2>&1 || { cat "$TMPDIR/out"; false; }; }
    check 'a login opens her keychain' eval 'alice lock 2>/dev/null; refused 36 alice get mail/me --no-input && login && equals "$(alice get mail/me --no-input)" kept'
    rm /etc/pam.d/vauban-test-login
fi

# The name in a prompt is the witness's, of a program that no other user could follow.
check 'she stores one that asks' eval 'unlock; printf "asks" | alice set bank/me --require presence 2>/dev/null'
cp "$VAUBAN_BUILD/pty-play" "$TMPDIR/pty-play"
printf 'expect %s/lib/vauban/vauban\nexpect asscode\nsecret alice passcode\nexpect asks\n' "$prefix" >"$TMPDIR/play"
check 'and is asked under the program'"'"'s real name' eval 'as vauban-test-alice env HOME="$TMPDIR/home" "$TMPDIR/pty-play" --seconds "$hang_seconds" -- "$prefix/bin/vauban" get bank/me <"$TMPDIR/play" >"$TMPDIR/out" 2>&1 || { cat "$TMPDIR/out"; false; }'

# What `make run` shows, in the same words, as another user at a terminal; the demo throws its keychain away instead of the last.
passcode='correct horse battery' folder=$TMPDIR
step() {
    expected=$1; shift 2
    as vauban-test-bob env HOME=/nonexistent "$TMPDIR/pty-play" --seconds "$hang_seconds" -- "$prefix/bin/vauban" "$@" >"$TMPDIR/out" 2>&1; status=$?
    check "make run: vauban $*" eval 'equals "$status" "$expected" || { cat "$TMPDIR/out"; false; }'
}
. scripts/demo-steps
step 0 '' delete bank/anna --yes </dev/null
step 44 '' get bank/anna --no-input </dev/null
check 'she sees nothing of what he keeps' eval 'refused 44 alice get site-12.example/user12@mail.example --no-input'

# A machine with another id is a copy, and says so.
restart() { stop; rooms; alice status >"$TMPDIR/status" 2>&1; attendants; }
check 'the machine is no copy of itself' eval 'restart; ! grep -q "is a copy" "$TMPDIR/status"'
echo fedcba9876543210fedcba9876543210 >/etc/machine-id
check 'a changed machine-id is told' eval 'restart; grep -q "^Warning .*this machine is a copy" "$TMPDIR/status"'
check 'and the keychain opens all the same' eval 'unlock && equals "$(alice get mail/me)" kept'
rm /var/lib/vauban/enclave/machine
check 'what the warning says to do ends it' eval 'restart; ! grep -q "is a copy" "$TMPDIR/status" && [ -s /var/lib/vauban/enclave/machine ]'

# An upgrade.
echo '# ours' >>/etc/vauban/rooms
echo old >"$prefix/lib/vauban/old-program"; echo "$prefix/lib/vauban/old-program" >>"$prefix/lib/vauban/manifest"
inode=$(stat -c %i "$prefix/lib/vauban/enclaved")
sha256sum /var/lib/vauban/enclave/device-secret >"$TMPDIR/secret"
[ -z "$debian" ] || DEBIAN_FRONTEND=noninteractive pam-auth-update --package --disable vauban
check 'a second installation is an upgrade' eval 'scripts/install >"$TMPDIR/out" 2>&1 || { cat "$TMPDIR/out"; false; }'
check 'and says that it locks' grep -q 'locks all keychains' "$TMPDIR/out"
check 'programs are replaced, not written over' eval '[ "$(stat -c %i "$prefix/lib/vauban/enclaved")" != $inode ] && ! find "$prefix" -name "*.vauban-new" | grep .'
check 'what this version does not have is gone' eval '! [ -e "$prefix/lib/vauban/old-program" ]'
check 'the administrator'"'"'s roster stays' grep -q '^# ours' /etc/vauban/rooms
[ -z "$debian" ] || { check 'logins that the administrator switched off stay off' in_stacks 0; DEBIAN_FRONTEND=noninteractive pam-auth-update --package --enable vauban; check 'and can be switched on' in_stacks 3; }
check 'the device secret stays' sha256sum --quiet -c "$TMPDIR/secret"
restart
check 'and everybody'"'"'s items, after an unlock' eval 'refused 36 alice get mail/me --no-input && unlock && equals "$(alice get mail/me)" kept'

# The end.
stop
systemctl enable --quiet vauban-unlock@vauban-test-alice.service 2>/dev/null
check 'a server'"'"'s unlocking can be enabled' test -L /etc/systemd/system/multi-user.target.wants/vauban-unlock@vauban-test-alice.service
check 'it uninstalls' eval 'scripts/uninstall >"$TMPDIR/out" 2>&1 || { cat "$TMPDIR/out"; false; }'
tree | diff "$TMPDIR/before" - | sed -n 's/^[<>] //p' >"$TMPDIR/left"
check 'all that is left is keychains and what was changed' eval '[ -s "$TMPDIR/left" ] && ! grep -vE "^(/var/lib/vauban|/etc/vauban)(/|$)" "$TMPDIR/left"'
check 'it names both' eval 'grep -q "kept: /var/lib/vauban" "$TMPDIR/out" && grep -q "kept, because you changed it: /etc/vauban" "$TMPDIR/out"'
check 'and where what logins remember is' grep -q /var/lib/vauban/login "$TMPDIR/out"
check 'logins are as they were' eval 'stacks | diff "$TMPDIR/stacks" -'
check 'the device secret is what it was' sha256sum --quiet -c "$TMPDIR/secret"
check 'the users stay, whose numbers own it' eval 'getent passwd vauban-enclave >/dev/null'
sed -n 's/^    //p' "$TMPDIR/out" >"$TMPDIR/commands"
check 'the commands that it names remove the rest' eval '[ -s "$TMPDIR/commands" ] && bash -e "$TMPDIR/commands" && tree | diff "$TMPDIR/before" -'
check 'and the users' eval 'people | diff "$TMPDIR/people" -'

# For packagers, and for one user without root.
DESTDIR=$TMPDIR/destdir PREFIX=/usr scripts/install >"$TMPDIR/out" 2>&1 || cat "$TMPDIR/out"
check 'DESTDIR only copies' eval '[ -e "$TMPDIR/destdir/usr/lib/systemd/system/vauban-enclaved.socket" ] && [ -e "$TMPDIR/destdir/etc/vauban/rooms" ] && tree | diff "$TMPDIR/before" -'
check 'and says which units to enable' eval '(for unit in Install/systemd/*.socket Install/systemd/vauban-integrity.service.in; do
    unit=${unit##*/}; grep -q "systemctl enable .*${unit%.in}" "$TMPDIR/out" || { echo "$unit"; exit 1; }
done)'
check 'units name the program where it will be' grep -q '^ExecStart=/usr/lib/vauban/enclaved ' "$TMPDIR/destdir/usr/lib/systemd/system/vauban-enclaved.service"
check 'so does the profile of logins' grep -qF '/usr/lib/vauban/pam_vauban.so program=/usr/lib/vauban/vauban' "$TMPDIR/destdir/usr/share/pam-configs/vauban"
check 'nothing is left unfilled' eval '! grep -rl @PROGRAMS@ "$TMPDIR/destdir"'
for program in enclaved vauban; do check "nothing of the tests is installed beside $program" eval '! find "$TMPDIR/destdir" -name "*testing*" | grep .'; break; done
mine() { as vauban-test-alice env TMPDIR="$TMPDIR/home" HOME="$TMPDIR/home" PREFIX="$TMPDIR/home/.local" "$@"; }
check 'a user without root cannot install for everybody' refused 1 as vauban-test-alice env PREFIX=/usr/local "$TMPDIR/release/scripts/install"
check 'a user installs user mode' eval 'mine scripts/install >"$TMPDIR/out" 2>&1 || { cat "$TMPDIR/out"; false; }'
check 'is told the next step' grep -q 'next: vauban setup' "$TMPDIR/out"
check 'has no service of it' eval '! find "$TMPDIR/home" -name "*.socket" -o -name "pam_vauban.so" | grep . && ! [ -e /etc/vauban ]'
printf 'my passcode\n' >"$TMPDIR/passcode"
check 'sets it up' eval 'mine "$TMPDIR/home/.local/bin/vauban" setup --passcode-fd 3 3<"$TMPDIR/passcode" >"$TMPDIR/out" 2>&1 || { cat "$TMPDIR/out"; false; }'
check 'and uses it' eval 'printf mine | mine "$TMPDIR/home/.local/bin/vauban" set a/b 2>/dev/null && equals "$(mine "$TMPDIR/home/.local/bin/vauban" get a/b)" mine'
check 'enables what names it' eval 'mine "$TMPDIR/home/.local/bin/vauban" ssh enable >"$TMPDIR/out" 2>&1 && mine "$TMPDIR/home/.local/bin/vauban" enable secret-service --no-import >>"$TMPDIR/out" 2>&1 && grep -rqF "$TMPDIR/home/.local/lib/vauban/" "$TMPDIR/home/.config" "$TMPDIR/home/.local/share/dbus-1" || { cat "$TMPDIR/out"; false; }'
check 'uninstalling leaves the keychain alone' eval 'mine scripts/uninstall >"$TMPDIR/out" 2>&1 && tree | diff "$TMPDIR/before" - | sed -n "s/^[<>] //p" >"$TMPDIR/left"; [ -s "$TMPDIR/left" ] && ! grep -vE "^$TMPDIR/home/.(config$|local(/share(/vauban(/|$)|$)|$))" "$TMPDIR/left"'
check 'and stops its rooms' eval '! pgrep -u vauban-test-alice -f "$TMPDIR/home/.local/lib/vauban/" | grep .'

[ "$failures" = 0 ] || { echo "$failures checks failed"; tail -n 3 "$TMPDIR"/log.* 2>/dev/null; exit 1; }
echo 'installed, used, upgraded and removed'
