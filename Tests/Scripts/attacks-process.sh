#!/usr/bin/env bash
# What a person's programs do to each other and to the rooms, tried: reading processes, taking a better-known program's name, putting
# code into it. Each check is an attack of Manual/attacks.md, also where it succeeds.
set -u
. Tests/Scripts/lib/attacks.sh
gcc -O1 -shared -fPIC -o "$TMPDIR/preloaded.so" Tests/Scripts/lib/preloaded.c 2>/dev/null || { echo 'a library cannot be built here'; exit 77; }
install -o vauban-test-alice -m 755 "$TMPDIR/preloaded.so" "$own/preloaded.so"
loader=$(ls /lib64/ld-linux-*.so.2 /lib/ld-linux-*.so.1 2>/dev/null | head -n 1)
begin_attacks
# Yama lets a program be traced only by its own ancestors (1) or by nobody (2 and more).
yama=$(cat /proc/sys/kernel/yama/ptrace_scope 2>/dev/null || echo 0)
probe() { as "$1" "$bin/hardening-probe" attack "$2" >"$TMPDIR/probe" 2>&1; }
secret='^(ptrace|memory file|process_vm_readv|pidfd_getfd|environ|maps|auxv|fd/2): '
nothing_read() { probe "$@"; [ "$(grep -cE "${secret}refused" "$TMPDIR/probe")" = 8 ] || { cat "$TMPDIR/probe"; return 1; }; }

# Reading and ending processes.
for pid in $enclave_pid $keychain_pid $auth_pid $witness_pid; do
    check "A01 a room's memory, descriptors and environment: refused ($(cat /proc/$pid/comm))" nothing_read vauban-test-alice "$pid"
done
check 'A02 a signal to a room: refused' eval '! by alice bash -c "kill -STOP $keychain_pid" 2>/dev/null'
mkfifo -m 666 "$TMPDIR/slow"
(exec setpriv --reuid vauban-test-alice --regid vauban-test-alice --clear-groups env HOME="$own" "$bin/vauban" unlock --passcode-fd 3 3<>"$TMPDIR/slow" 2>/dev/null) & waiting=$!
# It hides as soon as it knows which service it speaks to, a moment after it was started.
hides() { for _ in $(seq 500); do [ "$(cat /proc/$waiting/comm)" = vauban ] && nothing_read vauban-test-alice "$waiting" >/dev/null && return; done; return 1; }
check 'A03 the command line, while a passcode is typed: refused' hides
kill "$waiting"
by alice /usr/local/games/bin/mail get a >/dev/null
(exec setpriv --reuid vauban-test-alice --regid vauban-test-alice --clear-groups tail -f /dev/null) & plain=$!
until [ "$(cat /proc/$plain/comm)" = tail ]; do kill -0 "$plain" || break; done
if [ "$yama" = 0 ]; then
    check 'A04 another program of the same person: succeeds, unless Yama or the program itself forbids it' eval 'probe vauban-test-alice "$plain"; grep -q "^memory file: done" "$TMPDIR/probe"'
else
    check 'A04 another program of the same person: refused by Yama' nothing_read vauban-test-alice "$plain"
fi
check 'A05 a program of another person: refused' nothing_read vauban-test-bob "$plain"
kill "$plain"

# Another program's name.
check 'A06 a program that asks for what another keeps: not found' equals "$(attack get a)" 'refused 13'
check 'A07 under another name, by prctl and by its arguments: not found' equals "$(as vauban-test-alice bash -c 'exec -a /usr/local/games/bin/mail "$@"' - "$own/attacker" lie a)" 'refused 13'
check 'A08 a symbolic link to it: not found' eval 'by alice ln -s "$own/attacker" "$own/mail" && equals "$(by alice "$own/mail" get a)" "refused 13"'
check 'A09 a path that leads to another program meanwhile: not found' equals "$(attack swap a /usr/local/games/bin/mail)" 'refused 13'
check 'A10 a program in memory, without a file: asked, and nobody is there' equals "$(attack memory a)" 'refused 23'
install -d -o vauban-test-alice /usr/local/games/alice
if [ "$(cat /proc/sys/fs/protected_hardlinks)" = 1 ]; then check 'A11 a hard link to an installed program: refused by the kernel' eval '! by alice ln /usr/local/games/bin/mail /usr/local/games/alice/mail 2>/dev/null'; fi
ln /usr/local/games/bin/mail /usr/local/games/alice/mail
check 'A11 one that is there is a program of the person'"'"'s own: not found' equals "$(by alice /usr/local/games/alice/mail get a)" -25300
rm /usr/local/games/alice/mail
printf '#' | cat "$own/attacker" - >"$own/gone (deleted)"; chmod 755 "$own/gone (deleted)"
check 'A12 a file that is named as a deleted one: asked, and nobody is there' equals "$(by alice "$own/gone (deleted)" get a)" 'refused 23'
space() { as vauban-test-alice unshare -Ur --mount "$@"; }
# Some systems let nobody but root make user namespaces.
if space true 2>/dev/null; then
    check 'A13 a user namespace where it is bound over the installed one: asked' equals "$(space sh -c 'mount --bind "$0" /usr/local/games/bin/mail && exec /usr/local/games/bin/mail get a' "$own/attacker")" 'refused 23'
    check 'A14 a user namespace with a tree of its own where all is root'"'"'s: asked' equals "$(space sh -c 'mount -t tmpfs none /usr/local/games && mkdir /usr/local/games/bin && cp "$0" /usr/local/games/bin/mail && chmod 755 /usr/local/games /usr/local/games/bin && stat -c %U /usr/local/games/bin/mail >/dev/null && exec /usr/local/games/bin/mail get a' "$own/attacker")" 'refused 23'
else
    echo 'A13 and A14 are not tried: no user namespaces here'
fi
mkdir /usr/local/games/stick && mount -t tmpfs -o nosuid,mode=755 none /usr/local/games/stick && cp "$own/attacker" /usr/local/games/stick/mail && chmod 755 /usr/local/games/stick/mail
check 'A15 a disk of the person'"'"'s that says its files are root'"'"'s: not found' equals "$(by alice /usr/local/games/stick/mail get a)" 'refused 13'
umount /usr/local/games/stick
python=$(readlink -f /usr/bin/python3)
cp "$python" "$own/calculator" && chown vauban-test-alice "$own/calculator"
gcc -O1 -shared -fPIC -Dmain=attack -o "$own/attacker.so" Tests/Scripts/lib/attacker.c
by_python() { by alice "$1" -c 'import ctypes, sys; words = [word.encode() for word in sys.argv]; ctypes.CDLL(sys.argv[1]).attack(3, (ctypes.c_char_p * 4)(*words[1:]))' "$own/attacker.so" get a; }
check 'A16 a copy of an interpreter under another name: asked' equals "$(by_python "$own/calculator")" 'refused 23'
printf '#' >>"$own/calculator"
check 'A16 one of whose content a byte is another is a program of its own: not found' equals "$(by_python "$own/calculator")" 'refused 13'
printf '#' | cat "$own/attacker" - >"$own/python3.99" && chmod 755 "$own/python3.99"
check 'A16 what has an interpreter'"'"'s name: asked' equals "$(by alice "$own/python3.99" get a)" 'refused 23'
check 'A17 an installed program, started by the dynamic loader: asked' equals "$(by alice "$loader" /usr/local/games/bin/mail get a)" -25308
check 'A17 with the loader'"'"'s own preload: asked' equals "$(by alice "$loader" --preload "$own/preloaded.so" /usr/local/games/bin/mail get a)" -25308
cp "$(readlink -f "$loader")" "$own/program" && chmod 755 "$own/program"
check 'A17 a copy of the loader: asked' equals "$(by alice "$own/program" /usr/local/games/bin/mail get a)" -25308
mounted=$TMPDIR/groups; mkdir "$mounted"
if mount -t cgroup2 none "$mounted" 2>/dev/null && mkdir "$mounted/vauban-attack.slice" 2>/dev/null; then
    mkdir -p "$mounted/vauban-attack.slice/mail.service"
    check 'A18 in a unit of another'"'"'s name: not found' equals "$(bash -c 'echo $$ >"$0/cgroup.procs" && grep -q "/mail.service$" /proc/self/cgroup && shift 0 && exec "$@"' "$mounted/vauban-attack.slice/mail.service" setpriv --reuid vauban-test-alice --regid vauban-test-alice --clear-groups "$own/attacker" get a)" 'refused 13'
    rmdir "$mounted/vauban-attack.slice/mail.service" "$mounted/vauban-attack.slice"
else
    echo 'A18 is not tried: no control groups here'
fi

# Code in another program.
preloaded() { rm -f "$own/loot"; as vauban-test-alice LOOT="$own/loot" "$@"; }
looted() { grep -qaF inside "$own/loot" && { [ "${1:-}" = nothing ] && ! grep -qaF 'of mail' "$own/loot" || { [ "${1:-}" = secret ] && grep -qaF 'of mail' "$own/loot"; }; }; }
check 'A19 a library preloaded into an installed program: asked, and nobody is there' eval 'equals "$(preloaded LD_PRELOAD="$own/preloaded.so" /usr/local/games/bin/mail get a)" -25308 && looted nothing'
check 'A20 an audit module of the loader: asked' eval 'equals "$(preloaded LD_AUDIT="$own/preloaded.so" /usr/local/games/bin/mail get a)" -25308 && looted nothing'
check 'A21 a preloaded library that moves into memory of its own: succeeds' eval 'equals "$(preloaded HIDE=1 LD_PRELOAD="$own/preloaded.so" /usr/local/games/bin/mail get a)" "0 of mail" && looted secret'
check 'A22 a program that runs under a trace: asked' equals "$(by alice "$bin/hardening-probe" trace /usr/local/games/bin/mail get a)" -25308
check 'A23 a program that was changed under a trace and let go: succeeds' equals "$(attack inject x a /usr/local/games/bin/mail get x)" '0 of mail'
cp "$bin/keychain-caller" "$own/tool" && printf tool >>"$own/tool" && chown vauban-test-alice "$own/tool"
by alice "$own/tool" add t 'of the tool' >/dev/null
check 'A24 a library preloaded into a program of the person'"'"'s own: succeeds' eval 'equals "$(preloaded LD_PRELOAD="$own/preloaded.so" "$own/tool" get t)" "0 of the tool" && grep -qaF "of the tool" "$own/loot"'
check 'A25 a program of the person'"'"'s own, with other content at its path and the old times: asked' eval 'by alice touch -r "$own/tool" "$own/times" && printf "x" | as vauban-test-alice dd of="$own/tool" bs=1 seek="$(($(stat -c %s "$own/tool") - 1))" conv=notrunc 2>/dev/null && by alice touch -r "$own/times" "$own/tool" && equals "$(by alice "$own/tool" get t)" -25308'
check 'A26 writing to an installed program or its libraries: refused' eval '! by alice sh -c "echo x >>/usr/local/games/bin/mail" 2>/dev/null && ! by alice mv /usr/local/games/bin/mail /usr/local/games/bin/other 2>/dev/null'
check 'A27 a program that hands its secrets to whoever starts it: succeeds' equals "$(as vauban-test-alice python3 -c 'import subprocess; print(subprocess.run(["/usr/local/games/bin/mail", "get", "a"], capture_output=True, text=True).stdout, end="")')" '0 of mail'
finish
