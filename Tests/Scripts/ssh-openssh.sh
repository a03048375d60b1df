#!/usr/bin/env bash
# OpenSSH's own tests of ssh-agent (Debian's package openssh-tests), with Vauban's agent in its place.
#
# Not run: agent-subprocess, since this agent starts no program; agent-ptrace, which needs a program with the set-group-id bit, where this agent
# hardens itself (attacks-ssh.sh, U43); agent-getpeereid, which needs sudo (U42).
# Left out of those that run: DSA, which this agent does not have, and SHA-1 (ssh-rsa as an algorithm of servers), which it refuses. Keys of
# security keys and of a smart card (SoftHSM's, in software) are in OpenSSH's agent behind this one. In agent-restrict no server has a certificate,
# since a destination that an authority names allows nothing here.
# limit: 900
set -u
tests=/usr/lib/openssh/regress
[ -e $tests/test-exec.sh ] || { echo "openssh-tests is not installed"; exit 77; }
[ -x /usr/sbin/sshd ] || { echo 'there is no sshd here'; exit 77; }
names='agent agent-restrict agent-timeout cert-file hostkey-agent sshsig'
if [ -e /usr/lib/softhsm/libsofthsm2.so ] && command -v softhsm2-util >/dev/null; then names="$names agent-pkcs11"
else echo 'open: agent-pkcs11: softhsm2 is not installed'; fi
. Tests/Scripts/lib/command-line.sh
. Tests/Scripts/lib/ssh.sh
# The keychain is empty: the tests count the keys of the agent.
vauban status >/dev/null 2>&1
cp -a $tests "$TMPDIR/regress" && mkdir "$TMPDIR/bin" || exit 1
objects=$TMPDIR/regress

# ssh-agent as its tests start it: -s and -a PATH, -d to stay in the foreground, and -k. OpenSSH's agent is behind it for security keys and smart cards.
cat >"$TMPDIR/bin/ssh-agent" <<SCRIPT
#!/bin/sh
socket= foreground=
while [ \$# -gt 0 ]; do
    case \$1 in
        -k) kill "\$SSH_AGENT_PID"; exit ;;
        -a) socket=\$2; shift ;;
        -d) foreground=1 ;;
        -s|-P*) ;;
        *) echo "this stands in for no ssh-agent \$*" >&2; exit 64 ;;
    esac
    shift
done
[ -n "\$socket" ] || socket=\$(mktemp -u "$TMPDIR/agent.XXXXXX")
# Each ends with the test, which ends this agent only.
$(command -v ssh-agent) -D -P '/*' -a "\$socket.behind" >/dev/null 2>&1 &
echo \$! >>"$TMPDIR/agents"
until [ -S "\$socket.behind" ]; do kill -0 \$! || exit 1; done
[ -z "\$foreground" ] || exec "$VAUBAN_BUILD/vauban-ssh-agent" --socket "\$socket" --upstream "\$socket.behind"
"$VAUBAN_BUILD/vauban-ssh-agent" --socket "\$socket" --upstream "\$socket.behind" >/dev/null 2>>"$TMPDIR/agent.log" &
pid=\$!
echo \$pid >>"$TMPDIR/agents"
until SSH_AUTH_SOCK=\$socket ssh-add -l >/dev/null 2>&1 || [ \$? = 1 ]; do kill -0 \$pid || exit 1; done
echo "SSH_AUTH_SOCK=\$socket; export SSH_AUTH_SOCK; SSH_AGENT_PID=\$pid; export SSH_AGENT_PID;"
SCRIPT
# The types and algorithms of keys that the tests go through.
cat >"$TMPDIR/bin/ssh" <<SCRIPT
#!/bin/sh
case "\$*" in
    *'-Q '*) $(command -v ssh) "\$@" | grep -v -e ssh-dss -e ^ssh-rsa-cert ;;
    *) exec $(command -v ssh) "\$@" ;;
esac
SCRIPT
chmod +x "$TMPDIR"/bin/*
sed -i -e 's/^for h in d e ; do$/for h in ; do/' -e 's/^for h in a b c x ; do$/for h in a b c d e x ; do/' \
    -e 's,^sleep 4 # Give it a chance to start$,while kill -0 $AGENT_PID; do ${SSHADD} -l >/dev/null 2>\&1; [ $? = 2 ] || break; done,' "$objects/agent-restrict.sh"
grep -q 'for h in a b c d e x ; do' "$objects/agent-restrict.sh" && grep -q '^while kill -0 $AGENT_PID; do' "$objects/agent-restrict.sh" ||
    fail 'agent-restrict is another test than expected'
# All keys are added before the first one expires, however long that takes, and the test waits for their end.
sed -i -e 's/^SSHAGENT_TIMEOUT=10$/SSHAGENT_TIMEOUT=30/' -e '/^\tsleep /{N;s,.*,\twhile ${SSHADD} -l >/dev/null 2>\&1; do :; done,}' "$objects/agent-timeout.sh"
grep -q '^SSHAGENT_TIMEOUT=30$' "$objects/agent-timeout.sh" && [ "$(grep -cE '^\s(sleep|while) ' "$objects/agent-timeout.sh")" = 1 ] ||
    fail 'agent-timeout is another test than expected'
# As an algorithm of servers, ssh-rsa is SHA-1.
sed -i '/verbose "key type \$k"/i [ $k != ssh-rsa ] || continue' "$objects/hostkey-agent.sh"
grep -q 'ssh-rsa' "$objects/hostkey-agent.sh" || fail 'hostkey-agent is another test than expected'
# The token's library, which Debian has at this path on every architecture.
sed -i 's,/usr/lib/x86_64-linux-gnu/softhsm/libsofthsm2.so,/usr/lib/softhsm/libsofthsm2.so,' "$objects/agent-pkcs11.sh"
grep -q '/usr/lib/softhsm/libsofthsm2.so' "$objects/agent-pkcs11.sh" || fail 'agent-pkcs11 is another test than expected'
export PATH=$TMPDIR/bin:$PATH:/usr/sbin
[ "$(id -u)" != 0 ] || mkdir -p /run/sshd
finish() { ! [ -e "$TMPDIR/agents" ] || kill $(cat "$TMPDIR/agents") 2>/dev/null; vauban stop >/dev/null 2>&1; }
passed=
for name in $names; do
    : >"$TMPDIR/agents"
    (cd "$objects" && env BUILDDIR="$objects" OBJ="$objects" SUDO= TEST_SHELL=sh TEST_SSH_SSH="$TMPDIR/bin/ssh" TEST_SSH_SSHAGENT="$TMPDIR/bin/ssh-agent" \
        TEST_SSH_UNSAFE_PERMISSIONS=1 TEST_SSH_SSHD_CONFOPTS='UsePAM no' sh test-exec.sh "$objects" "$objects/$name.sh") </dev/null >"$TMPDIR/out" 2>&1 ||
        { cat "$TMPDIR/out" "$objects/failed-regress.log" "$TMPDIR/agent.log"; fail "OpenSSH's test $name fails"; }
    grep -q -e SKIPPED -e ^skipped: "$TMPDIR/out" && { cat "$TMPDIR/out"; fail "OpenSSH's test $name was not run"; }
    kill $(cat "$TMPDIR/agents") 2>/dev/null
    passed="$passed $name"
done
echo "OpenSSH's tests take the agent for one:$passed"
