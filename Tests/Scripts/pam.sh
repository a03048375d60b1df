#!/usr/bin/env bash
# The PAM module at real logins: pam_unix with a real password in a copy of /etc, stacks made by pam-auth-update from the shipped
# profile, rooms as system users. It runs in a mount namespace of its own, so nothing of the machine changes.
set -u
[ "${VAUBAN_TEST_USERS:-0}" = 1 ] || { echo 'it needs root, to be several users'; exit 77; }
. Tests/Scripts/lib/deadline.sh
for tool in setpriv unshare pamtester pam-auth-update chpasswd chage; do command -v $tool >/dev/null || { echo "there is no $tool here"; exit 77; }; done
module=$VAUBAN_BUILD/pam_vauban.so
[ -e "$module" ] || { echo 'the PAM module is not built'; exit 77; }
. Tests/Scripts/lib/own-mounts.sh
if [ -z "${VAUBAN_INSIDE:-}" ]; then
    mkdir "$TMPDIR/bin" && cp "$VAUBAN_BUILD"/{rooms-testing,keychaind,authd,vauban-witness,vauban,hardening-probe,pam_vauban.so} "$TMPDIR/bin/" || exit 1
    chmod 755 "$TMPDIR" "$TMPDIR/bin"
    made=
    for folder in /run/vauban /var/lib/vauban; do [ -e "$folder" ] || { mkdir "$folder" && made="$made $folder"; }; done
    trap 'for folder in $made; do rmdir "$folder"; done' EXIT
    VAUBAN_INSIDE=1 unshare $own_mounts --pid --fork --kill-child --mount-proc "$0"
    exit
fi
unset VAUBAN_HOME XDG_RUNTIME_DIR XDG_DATA_HOME
bin=$TMPDIR/bin
alice_uid=$(id -u vauban-test-alice)
memory=/var/lib/vauban/login/$alice_uid/tried
# A copy of /etc replaces the machine's, with the shadow file; and a /dev with a socket for the log.
mkdir "$TMPDIR/etc" "$TMPDIR/dev" "$TMPDIR/root"
for folder in "$TMPDIR/etc" "$TMPDIR/dev" /run/vauban /var/lib/vauban; do mount -t tmpfs -o mode=755 tmpfs "$folder" || { echo 'it cannot mount here'; exit 77; }; done
cp -a /etc/. "$TMPDIR/etc/" && mount --bind "$TMPDIR/etc" /etc || { echo 'it cannot mount here'; exit 77; }
for device in null zero full random urandom tty; do : >"$TMPDIR/dev/$device" && mount --bind "/dev/$device" "$TMPDIR/dev/$device"; done
mount --rbind "$TMPDIR/dev" /dev || { echo 'it cannot mount here'; exit 77; }
rm -rf /etc/vauban; mkdir /etc/vauban
cat >/etc/vauban/rooms <<ROSTER
enclaved vauban-test-enclave
keychaind vauban-test-keychain
authd vauban-test-auth
witness vauban-test-witness
ROSTER
/usr/bin/python3 -c '
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.bind("/dev/log")
with open(sys.argv[1], "ab", buffering=0) as log:
    while True: log.write(s.recv(65536).rstrip(b"\0\n") + b"\n")
' "$TMPDIR/log" &
until [ -S /dev/log ]; do kill -0 $! || exit 1; done; chmod 666 /dev/log

failures=0
check() { what=$1; shift; if "$@"; then echo "ok: $what"; else echo "FAILED: $what"; failures=$((failures + 1)); [ ! -e "$TMPDIR/said" ] || sed 's/^/    /' "$TMPDIR/said"; fi; }
equals() { [ "$1" = "$2" ]; }
# logged TEXT: waits until another process has logged it.
logged() { timeout "$hang_seconds" tail -n +1 -F "$TMPDIR/log" 2>/dev/null | grep -qF -m 1 -- "$1"; }

# The stacks, as the shipped profile generates them.
root=$TMPDIR/root
mkdir -p "$root"/{etc,usr/share,var/lib}
cp -a /etc/pam.d "$root/etc/" && cp -a /usr/share/pam /usr/share/pam-configs "$root/usr/share/" && cp -a /var/lib/pam "$root/var/lib/"
sed "s#@PROGRAMS@#$bin#g" Install/pam/vauban.in >"$root/usr/share/pam-configs/vauban"
# debconf uses the machine's database, whatever the root is.
cp -a /var/cache/debconf "$TMPDIR/debconf" && mount --bind "$TMPDIR/debconf" /var/cache/debconf || { echo 'it cannot mount here'; exit 77; }
DEBIAN_FRONTEND=noninteractive pam-auth-update --root "$root" --package >"$TMPDIR/said" 2>&1
check 'the shipped profile is added to the three stacks' eval 'equals "$(cat "$root"/etc/pam.d/common-{auth,session,password} | grep -c "optional.*pam_vauban.so")" 3'
check 'and into no session that is not a user'"'"'s' eval '! grep -q pam_vauban "$root/etc/pam.d/common-session-noninteractive"'
cp "$root"/etc/pam.d/common-* /etc/pam.d/
with_program() { sed -E -i "s#(pam_vauban.so).*#\1 program=$1#" /etc/pam.d/common-* /etc/pam.d/test-*; }
printf '@include common-auth\n@include common-account\n@include common-session\n@include common-password\n' >/etc/pam.d/test-login
printf '@include common-auth\n@include common-account\n' >/etc/pam.d/test-locker
# A module that always succeeds represents a finger. Some services use the common stack after it, others have their own.
{ echo 'auth [success=1 default=ignore] pam_permit.so'; echo 'auth requisite pam_deny.so'; echo 'auth required pam_permit.so'
    grep pam_vauban /etc/pam.d/common-auth; echo '@include common-account'; echo '@include common-session'; } >/etc/pam.d/test-finger
{ echo 'auth required pam_permit.so'; echo '@include common-account'; echo '@include common-session'; } >/etc/pam.d/test-finger-apart

as() { user=$1; shift; setpriv --reuid "$user" --regid "$user" --clear-groups "$@"; }
alice() { as vauban-test-alice env HOME=/nonexistent "$bin/vauban" "$@"; }
room() { socket=$1; user=$2; shift 2; "$bin/rooms-testing" with-socket "$socket" -- setpriv --reuid "$user" --regid "$user" --clear-groups "$@" & }
# login PASSWORD, locker PASSWORD [FLAG], finger SERVICE [OPTIONS]: their output goes to $TMPDIR/said.
pam() { timeout "$hang_seconds" pamtester "$@" >"$TMPDIR/said" 2>&1; }
login() { pam test-login vauban-test-alice authenticate acct_mgmt 'setcred(PAM_ESTABLISH_CRED)' open_session close_session <<<"$1"; }
locker() { pam test-locker vauban-test-alice authenticate acct_mgmt "setcred(${2:-PAM_REFRESH_CRED})" <<<"$1"; }
finger() { service=$1; shift; pam "$@" "$service" vauban-test-alice authenticate acct_mgmt 'setcred(PAM_ESTABLISH_CRED)' open_session </dev/null; }
silent() { ! grep -qi vauban: "$TMPDIR/said"; }
says() { grep -qF -- "$1" "$TMPDIR/said" && equals "$(grep -c Vauban: "$TMPDIR/said")" 1; }
state() { alice status 2>/dev/null >"$TMPDIR/status"; grep -q "^State *$1" "$TMPDIR/status"; }
tries() { alice status 2>/dev/null >"$TMPDIR/status"; grep -q "set; $1 attempt[s]* left" "$TMPDIR/status"; }
locked() { alice lock 2>/dev/null; }
by_hand() { alice unlock --passcode-fd 0 <<<"$1" 2>/dev/null; }
password() { printf 'vauban-test-alice:%s\n' "$1" | chpasswd -c SHA512 -s 1000; }
same='the same for both'; other='only for logins'
password "$same"

# Without rooms, and without the program, a login succeeds as usual.
check 'a login succeeds without running rooms' eval 'login "$same" && silent'
mv "$bin/pam_vauban.so" "$bin/elsewhere.so"
check 'and without the module' eval 'login "$same" && silent'
mv "$bin/elsewhere.so" "$bin/pam_vauban.so"
with_program "$bin/nothing"
check 'and without the program' eval 'login "$same" && silent'
cp "$bin/vauban" "$bin/loose"; chmod 777 "$bin/loose"; with_program "$bin/loose"
check 'and if others could change the program, which is not run' eval 'login "$same" && silent && logged "$bin/loose is missing, or others than root can change it"'
mkdir -m 777 "$TMPDIR/marks"; printf '#!/bin/sh\n: >"%s/ran"\n' "$TMPDIR/marks" >"$bin/marker"; chmod 755 "$bin/marker"; with_program "$bin/marker"
check 'a login before the first use of Vauban starts nothing of it' eval 'login "$same" && silent && ! [ -e "$TMPDIR/marks/ran" ] && ! [ -e /var/lib/vauban/login ]'
# The rooms of this test have their state elsewhere.
mkdir -m 700 /var/lib/vauban/enclave && : >/var/lib/vauban/enclave/device-secret
check 'and after it, it does' eval 'login "$same" && silent && [ -e "$TMPDIR/marks/ran" ]'
with_program "$bin/vauban"

state=$TMPDIR/state
mkdir "$state" && chmod 755 "$state"
install -d -m 700 -o vauban-test-enclave -g vauban-test-enclave "$state/enclave"
install -d -m 700 -o vauban-test-keychain -g vauban-test-keychain "$state/keychain"
enclave_arguments="--enclave-folder /run/vauban --enclave-uid $(id -u vauban-test-enclave)"
room enclave=/run/vauban/enclave vauban-test-enclave "$bin/rooms-testing" enclaved --state "$state/enclave"
room keychain=/run/vauban/keychain vauban-test-keychain "$bin/keychaind" --state "$state/keychain" $enclave_arguments
room authentication=/run/vauban/authentication vauban-test-auth "$bin/authd" $enclave_arguments
authd_pid=$!
room - vauban-test-witness --inh-caps +sys_ptrace --ambient-caps +sys_ptrace "$bin/vauban-witness" $enclave_arguments
eventually alice status >/dev/null 2>&1

check 'a user without a passcode gets no message' eval 'login "$same" && silent'
alice passcode set --passcode-fd 0 <<<"$same" 2>/dev/null
printf 'class A' | alice set mail/me 2>/dev/null; printf 'asks' | alice set bank/me --require presence 2>/dev/null
check 'an unlocked keychain needs nothing' eval 'login "$same" && silent && state unlocked'

# The password is the passcode.
locked
check 'a login unlocks the keychain' eval 'login "$same" && silent && equals "$(alice get mail/me)" "class A"'
check 'it answers no prompt of an item that requires the user' eval 'alice get bank/me >/dev/null 2>&1 </dev/null; [ $? = 36 ]'
for flag in PAM_REFRESH_CRED PAM_REINITIALIZE_CRED; do
    locked
    check "a screen's locker opens it, with $flag" eval 'locker "$same" $flag && silent && state unlocked'
done
locked
pam_unix_helper() {
    as vauban-test-alice timeout "$hang_seconds" pamtester test-locker vauban-test-alice authenticate acct_mgmt 'setcred(PAM_REFRESH_CRED)' <<<"$same" >"$TMPDIR/said" 2>&1
}
check 'a locker that runs as the user does, too' eval 'pam_unix_helper && state unlocked'
locked
check 'a wrong login password is no login, and no attempt' eval '! login "not it" && state locked && tries 5'
check 'sudo opens a session of another user: nothing is unlocked, and there is no message' \
    eval 'printf "%s\n" "$same" | /usr/bin/python3 Tests/Scripts/lib/pam-as-sudo.py test-login vauban-test-alice root >"$TMPDIR/said" 2>&1
        equals "$(grep -c ": 0" "$TMPDIR/said")" 6 && silent && state locked'
check 'sudo opens a session of the same user: the keychain is unlocked' \
    eval 'printf "%s\n" "$same" | /usr/bin/python3 Tests/Scripts/lib/pam-as-sudo.py test-login vauban-test-alice vauban-test-alice >"$TMPDIR/said" 2>&1; silent && state unlocked'

# A login without a password.
locked
for service in test-finger test-finger-apart; do
    check "a finger's login ($service) says that the keychain is closed, and what to do" \
        eval 'finger $service && says "used no password" && says "run: vauban unlock" && state locked && tries 5'
done
check 'there is no message when root becomes the user' eval 'finger test-finger-apart -I ruser=root && silent'
pam test-finger vauban-test-alice authenticate 'setcred(PAM_ESTABLISH_CRED)' 'open_session(PAM_SILENT)' </dev/null
check 'nor if the login requests silence' silent
by_hand "$same"
check 'and no message about an unlocked keychain' eval 'finger test-finger && silent'

# A smart card: its module leaves the PIN where a password belongs. The right password represents it, so that a use of it would be seen.
card() { pam "$@" vauban-test-alice authenticate acct_mgmt 'setcred(PAM_ESTABLISH_CRED)' open_session <<<"$same"; }
locked
check 'the PIN of a card is not used as a password, by what its module tells the login' \
    eval 'card -E "PKCS11_LOGIN_TOKEN_NAME=a card" test-login && says "used no password" && state locked && tries 5'
with_program "$bin/vauban except=other,test-login"
check 'nor over a service that root excepts' eval 'card test-login && says "used no password" && state locked && tries 5'
with_program "$bin/vauban except=test,test-log,test-login-not"
check 'while a password of another service is' eval 'card test-login && silent && state unlocked'
with_program "$bin/vauban"

# The password differs: one attempt, and no further one until one of the two changes.
password "$other"
locked
check 'a login with another password succeeds, reports why the keychain is locked, and costs one attempt' \
    eval 'login "$other" && says "your login password is not its passcode" && state locked && tries 4'
check 'the next one reports it and costs none' eval 'login "$other" && says "your login password is not its passcode" && tries 4'
check 'another service tries its own once, since that may be another secret, and then none is tried' \
    eval 'locker "$other" && tries 3 && locker "$other" && tries 3 && login "$other" && says "not its passcode" && tries 3 && state locked'
check 'a changed password is tried' eval 'chage -d 2020-01-01 vauban-test-alice && login "$other" && says "not its passcode" && tries 2 && login "$other" && tries 2'
check 'the record is hers, private, and contains no password' \
    eval 'equals "$(stat -c "%U %a" "$memory")" "vauban-test-alice 600" && equals "$(cat "$memory")" "differs 18262 test-login"'
check 'she cannot move its folder' eval '! as vauban-test-alice mv "/var/lib/vauban/login/$alice_uid" "/var/lib/vauban/login/x" 2>/dev/null'
check 'a changed passcode is tried: the two are equal now' \
    eval 'printf "%s\n%s\n" "$same" "$other" | alice passcode change --passcode-fd 0 --new-passcode-fd 0 2>/dev/null && login "$other" && silent && state unlocked'
check 'then there is no record' eval '[ ! -e "$memory" ]'

# An interrupted attempt is repeated only if it was not counted.
locked; as vauban-test-alice sh -c 'umask 077; echo trying >"$0"' "$memory"
check 'an attempt that was interrupted before it was counted is repeated' eval 'login "$other" && silent && state unlocked'
locked; by_hand 'wrong'; as vauban-test-alice sh -c 'umask 077; echo trying >"$0"' "$memory"
check 'one that may have been counted is not, and the message says how to repeat it' eval 'login "$other" && says "vauban login --retry" && tries 4'
as vauban-test-alice sh -c 'umask 077; echo "trying 11111 5" >"$0"' "$memory"
check 'if the password was changed since then, it is tried' eval 'login "$other" && silent && state unlocked && tries 5'
day=$(($(date -ud "$(LC_ALL=C chage -l vauban-test-alice | sed -n "s/^Last password change.*: //p")" +%s) / 86400))
locked; by_hand 'wrong'; as vauban-test-alice sh -c 'umask 077; echo "trying $1 5" >"$0"' "$memory" "$day"
check 'if it is the same, and a wrong attempt was counted since then, it is not' eval 'login "$other" && says "vauban login --retry" && tries 4'
check 'after vauban login --retry the next login tries it' eval 'alice login --retry 2>/dev/null && login "$other" && silent && state unlocked && tries 5'
locked; for _ in 1 2 3; do by_hand 'wrong'; done
check 'with fewer than three attempts left a login uses none, even with the right passcode' eval 'login "$other" && says "too few attempts are left" && tries 2 && state locked'
by_hand "$other"

# The login password is changed, the passcode is not, and that is reported.
locked; pam test-login vauban-test-alice chauthtok <<<"A longer 1 for logins"$'\n'"A longer 1 for logins"
check 'changing the login password reports that the passcode is still the old one' says 'the passcode of your keychain has not'
check 'the new one is tried once' eval 'login "A longer 1 for logins" && says "not its passcode" && tries 4 && login "A longer 1 for logins" && tries 4'
password "$other"; alice login --retry 2>/dev/null

# A room that does not reply: the login continues.
kill -STOP "$authd_pid"
begun=$SECONDS
check 'a login succeeds although a room does not reply' \
    eval 'login "$other" && silent && [ $((SECONDS - begun)) -lt 120 ] && logged "did not answer within"'
kill -CONT "$authd_pid"
check 'and unlocks the keychain when the room replies' eval 'login "$other" && state unlocked'

# A full disk: an attempt that cannot be recorded is not made.
locked
mount -o remount,size=64k /var/lib/vauban; cat /dev/zero >/var/lib/vauban/filler 2>/dev/null
check 'a login on a full disk succeeds, costs no attempt and says that it did not try' eval 'login "$other" && says "did not try its password" && state locked && tries 5'
rm /var/lib/vauban/filler; mount -o remount,size=50% /var/lib/vauban
check 'and with room again it unlocks the keychain' eval 'login "$other" && silent && state unlocked'

# The input of the program: a substitute records it, and waits, so that alice can try to read its memory.
locked
mkdir -m 777 "$TMPDIR/told"; mkfifo -m 666 "$TMPDIR/hold" "$TMPDIR/told.pid"
exec 8<>"$TMPDIR/told.pid" 9<>"$TMPDIR/hold"
cat >"$bin/stand-in" <<TOLD
#!/bin/dash
read -r password
id -u >$TMPDIR/told/uid; id -G >$TMPDIR/told/groups; printf '%s' "\$password" >$TMPDIR/told/password
echo \$\$ >$TMPDIR/told.pid
read -r _ <$TMPDIR/hold
TOLD
chmod 755 "$bin/stand-in"
looks() {
    read -r -t "$hang_seconds" seen <&8
    as vauban-test-alice "$bin/hardening-probe" attack "$seen" >"$TMPDIR/said"
    as vauban-test-alice ls "/proc/$seen/fd" >/dev/null 2>&1 && echo 'descriptors: done' >>"$TMPDIR/said"
    cp "$TMPDIR/said" "$TMPDIR/attack"
    # Root can see its input.
    for what in cmdline environ; do tr '\0' ' ' <"/proc/$seen/$what" >"$TMPDIR/$what"; done
    ls "/proc/$seen/fd" | tr '\n' ' ' >"$TMPDIR/descriptors"
    echo >&9
}
(printf '%s\n' "$other" | as vauban-test-alice "$bin/stand-in") 2>/dev/null & plain=$!
looks
check 'alice can read the memory of a program that she starts herself' grep -qE '^(ptrace|memory file): done' "$TMPDIR/attack"
wait "$plain"; rm -f "$TMPDIR"/told/*
with_program "$bin/stand-in"
timeout "$hang_seconds" pamtester test-login vauban-test-alice authenticate "setcred(PAM_ESTABLISH_CRED)" open_session <<<"$other" >"$TMPDIR/logged-in" 2>&1 & logging=$!
looks
check 'she cannot read that of the program that a login starts' \
    eval 'grep -q "^ptrace: refused" "$TMPDIR/attack" && grep -q "^memory file: refused" "$TMPDIR/attack" && ! grep -q "done" "$TMPDIR/attack"'
wait "$logging"
check 'it runs as the user, with the user'"'"'s groups' eval 'equals "$(cat "$TMPDIR/told/uid")" "$alice_uid" && equals "$(cat "$TMPDIR/told/groups" | tr " " "\n" | grep -cx 0)" 0'
check 'it gets the password, in no argument and no environment' \
    eval 'equals "$(cat "$TMPDIR/told/password")" "$other" && ! grep -qF "$other" "$TMPDIR/cmdline" "$TMPDIR/environ" && grep -q "login --password-fd=0" "$TMPDIR/cmdline"'
# 10 and 11 are the shell's own, which runs the script; 8 and 9 are open in the login.
check 'it gets no environment and only these three descriptors' eval 'equals "$(cat "$TMPDIR/environ")" "" && equals "$(cat "$TMPDIR/descriptors")" "0 1 10 11 2 "'
check 'the password is in no log and no message' eval '[ -s "$TMPDIR/log" ] && ! grep -qFe "$other" -e "$same" -e "A longer 1" "$TMPDIR/log" "$TMPDIR/logged-in"'
check 'nor in the files of the rooms' eval '! grep -rqaFe "$other" -e "$same" "$state" /var/lib/vauban'

[ "$failures" = 0 ] || { echo "$failures checks failed"; exit 1; }
