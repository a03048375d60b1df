#!/usr/bin/env bash
# Attacks of a user's programs on each other and on the rooms: reading processes, using the name of another program, inserting code into it. Each
# check is an attack of Manual/attacks.md, even if it succeeds.
set -u
. Tests/Scripts/lib/attacks.sh
gcc -O1 -shared -fPIC -o "$TMPDIR/preloaded.so" Tests/Scripts/lib/preloaded.c 2>/dev/null || { echo 'a library cannot be built here'; exit 77; }
install -o vauban-test-alice -m 755 "$TMPDIR/preloaded.so" "$own/preloaded.so"
loader=$(ls /lib64/ld-linux-*.so.2 /lib/ld-linux-*.so.1 2>/dev/null | head -n 1)
# A memory stick and a hard link of the user: if their paths were accepted, they would have mail's items; so would a program whose name only looks
# like the right one.
grant "$bin_of_root"/{mail,known} program:/usr/local/games/{stick,alice}/mail unit:mail.service mail.service
begin_attacks
# Yama permits only ancestors (1) or no process (2 and more) to trace a program.
yama=$(cat /proc/sys/kernel/yama/ptrace_scope 2>/dev/null || echo 0)
# The user of a room, as which the room is not another user's process; still it cannot be read, since it is not dumpable.
user_of() { id -nu "$(sed -n 's/^Uid:[[:space:]]*\([0-9]*\).*/\1/p' "/proc/$1/status")"; }
nobody_reads() { for reader in $(strangers -); do nothing_read "$reader" "$1" || { echo "    as $reader"; return 1; }; done; }

# Reading and ending processes.
for pid in $enclave_pid $keychain_pid $auth_pid $witness_pid; do
    check "A01 a room's memory, descriptors and environment: refused ($(cat /proc/$pid/comm))" nobody_reads "$pid"
    check "A01 control: root reads all of it ($(cat /proc/$pid/comm))" all_read "$pid"
    check "A02 a signal to a room, in every way: refused ($(cat /proc/$pid/comm))" each_stranger "$(user_of "$pid")" 'refused 1 1 1 1 1' "$TMPDIR/trespasser" signal "$pid"
done
check 'A02 control: its own user may' equals "$(as vauban-test-keychain "$TMPDIR/trespasser" signal "$keychain_pid")" 'done'
# The first half of the passcode is typed before the examination, and the rest after it: the unlock shows that this process had it.
mkfifo -m 666 "$TMPDIR/slow"
by alice "$bin/vauban" lock 2>/dev/null
(exec setpriv --reuid vauban-test-alice --regid vauban-test-alice --clear-groups env HOME="$own" "$bin/vauban" unlock --passcode-fd 3 3<"$TMPDIR/slow" 2>/dev/null) & waiting=$!
exec {typing}>"$TMPDIR/slow"
# It protects itself as soon as its service is determined, a moment after its start.
hides() { while runs "$waiting"; do [ "$(cat "/proc/$waiting/comm")" = vauban ] && nothing_read vauban-test-alice "$waiting" >/dev/null && return; done; return 1; }
# The data that was written into the pipe was read.
taken() { python3 -c 'import fcntl, sys, termios
while any(fcntl.ioctl(int(sys.argv[1]), termios.FIONREAD, bytes(4))): pass' "$typing"; }
check 'A03 the command line, before a passcode is typed: refused' hides
printf 'alice pass' >&"$typing" && taken
check 'A03 and while it is typed: refused' nothing_read vauban-test-alice "$waiting"
check 'A03 control: root reads all of it' all_read "$waiting"
printf 'code\n' >&"$typing"; exec {typing}>&-
check 'A03 what was typed was the passcode' wait "$waiting"
by alice /usr/local/games/bin/mail get a >/dev/null
(exec setpriv --reuid vauban-test-alice --regid vauban-test-alice --clear-groups tail -f /dev/null) & plain=$!
until [ "$(cat /proc/$plain/comm)" = tail ]; do kill -0 "$plain" || break; done
if [ "$yama" = 0 ]; then
    check 'A04 another program of the same user: succeeds, unless Yama or the program itself forbids it' \
        eval 'probe vauban-test-alice "$plain"; grep -q "^memory file: done" "$TMPDIR/probe"'
else
    check 'A04 another program of the same user: refused by Yama' nothing_read vauban-test-alice "$plain"
fi
check 'A05 a program of another user: refused' nothing_read vauban-test-bob "$plain"
check 'A05 control: root reads all of it' all_read "$plain"
# Tracing tools. kernel.perf_event_paranoid has them refused to every user only where it is above 2.
if [ "$(placeable)" = 0 ]; then
    not_tried A187 'perf_event_open is refused to root too here'
else
    nobody_places() { for reader in $(strangers -); do nothing_placed "$reader" "$1" || { echo "    as $reader"; return 1; }; done; }
    for pid in $enclave_pid $keychain_pid $auth_pid $witness_pid; do
        check "A187 samples of a room, and a breakpoint in it: refused ($(cat /proc/$pid/comm))" nobody_places "$pid"
        check "A187 control: root can place them ($(cat /proc/$pid/comm))" equals "$(placed_by_root "$pid")" "$(placeable)"
    done
    check 'A187 the same in a program of another user: refused' nothing_placed vauban-test-bob "$plain"
    if [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 2 ]; then
        check 'A187 control: in a plain program of the same user they can be placed' \
            eval 'probe vauban-test-alice "$plain"; equals "$(grep -cE "${placed}done" "$TMPDIR/probe")" "$(placeable)"'
    fi
fi
kill "$plain"

# Another program's name.
check 'A06 a program that asks for what another keeps: not found' equals "$(attack get a)" 'refused 13'
check 'A06 control: the same program where root installed it and let it in' equals "$(by alice /usr/local/games/bin/known get a)" 'value of mail'
check 'A07 under another name, by prctl and by its arguments: not found' \
    equals "$(as vauban-test-alice bash -c 'exec -a /usr/local/games/bin/mail "$@"' - "$own/attacker" lie a)" 'refused 13'
check 'A08 a symbolic link to it: not found' eval 'by alice ln -s "$own/attacker" "$own/mail" && equals "$(by alice "$own/mail" get a)" "refused 13"'
check 'A09 a path that leads to another program meanwhile: not found' equals "$(attack swap a /usr/local/games/bin/mail)" 'refused 13'
# The kernel shows it as `/memfd:NAME (deleted)`.
for name in mail $'mail\u0600' $'mail\u202e' $'mail\xff' '/usr/local/games/bin/mail' $'\n'; do
    check "A10 a program in memory, without a file: asked, and nobody is there ($(printf %q "$name"))" equals "$(attack memory a "$name")" 'refused 23'
done
# names_of_attack NAME…: for each, a copy of the attacker in the user's folder, as a different program; prints the reply to each.
names_of_attack() {
    for name in "$@"; do
        printf '%s' "$name" | cat "$own/attacker" - >"$own/$name" && chmod 755 "$own/$name" && by alice "$own/$name" get a || return 1
        rm "$own/$name"
    done
}
# Right to left (U+202E), invisible (U+200B), look-alike (Cyrillic), composed and not, Arabic, a newline, an escape code, a trailing space.
check 'A130 names that look or read like another: not found, each of them' equals \
    "$(names_of_attack $'\u202eliam' $'mail\u200b' $'m\u0430il' $'m\u00e4il' $'ma\u0308il' $'\u0645\u0631\u0633\u0644' $'mail\n' $'\e[2Jmail' 'mail ' | sort | uniq -c | xargs)" '9 refused 13'
# 0xFF alone, a lone surrogate, an overlong slash, one that ends early.
check 'A130 names that are no text: asked, each of them' equals \
    "$(names_of_attack $'mail\xff' $'mail\xed\xa0\x80' $'mail\xc0\xaf' $'mail\xe2\x82' | sort | uniq -c | xargs)" '4 refused 23'
install -d -o vauban-test-alice /usr/local/games/alice
if [ "$(cat /proc/sys/fs/protected_hardlinks)" = 1 ]; then
    check 'A11 a hard link to an installed program: refused by the kernel' equals "$(trespass link /usr/local/games/bin/mail /usr/local/games/alice/mail)" 'refused 1'
else
    not_tried A11 'the kernel lets everybody make hard links (fs.protected_hardlinks)'
fi
check 'A11 control: a link to a program of their own' \
    equals "$(by alice cp "$own/attacker" /usr/local/games/alice/attacker; trespass link /usr/local/games/alice/attacker /usr/local/games/alice/other)" 'done'
ln /usr/local/games/bin/mail /usr/local/games/alice/mail
check 'A11 one that is there is a program of the user'"'"'s own: not found' equals "$(by alice /usr/local/games/alice/mail get a)" -25300
chown root /usr/local/games/alice
check 'A11 control: it is root'"'"'s where the folder is' equals "$(by alice /usr/local/games/alice/mail get a)" '0 of mail'
rm -r /usr/local/games/alice
printf '#' | cat "$own/attacker" - >"$own/gone (deleted)"; chmod 755 "$own/gone (deleted)"
check 'A12 a file that is named as a deleted one: refused, as a program that was replaced' equals "$(by alice "$own/gone (deleted)" get a)" 'refused 40'
# U+0600 combines with the following space into one character.
gone=$(printf '%s/gone\330\200 (deleted)' "$own")
printf '##' | cat "$own/attacker" - >"$gone"; chmod 755 "$gone"
check 'A80 one whose name joins the space to another sign: refused' equals "$(by alice "$gone" get a)" 'refused 40'
space() { as vauban-test-alice unshare -Ur --mount "$@"; }
# On some systems only root can make user namespaces.
if space true 2>/dev/null; then
    check 'A13 a user namespace where it is bound over the installed one: asked' \
        equals "$(space sh -c 'mount --bind "$0" /usr/local/games/bin/mail && exec /usr/local/games/bin/mail get a' "$own/attacker")" 'refused 23'
    check 'A14 a user namespace with a tree of its own where all is root'"'"'s: asked' \
        equals "$(space sh -c 'mount -t tmpfs none /usr/local/games && mkdir /usr/local/games/bin && cp "$0" /usr/local/games/bin/mail && chmod 755 /usr/local/games /usr/local/games/bin && stat -c %U /usr/local/games/bin/mail >/dev/null && exec /usr/local/games/bin/mail get a' "$own/attacker")" 'refused 23'
else
    not_tried 'A13 A14' 'nobody but root may make user namespaces here'
fi
stick() {
    mkdir -p /usr/local/games/stick && mount -t tmpfs -o "$1" none /usr/local/games/stick && cp "$own/attacker" /usr/local/games/stick/mail && chmod 755 /usr/local/games/stick/mail
}
stick nosuid,mode=755
check 'A15 a disk of the user'"'"'s that says its files are root'"'"'s: not found' equals "$(by alice /usr/local/games/stick/mail get a)" 'refused 13'
umount /usr/local/games/stick && stick mode=755
check 'A15 control: on a disk that root mounted as one of its own it is believed' equals "$(by alice /usr/local/games/stick/mail get a)" 'value of mail'
umount /usr/local/games/stick
python=$(readlink -f /usr/bin/python3)
cp "$python" "$own/calculator" && chown vauban-test-alice "$own/calculator"
gcc -O1 -shared -fPIC -Dmain=attack -o "$own/attacker.so" Tests/Scripts/lib/attacker.c
by_python() {
    by alice "$1" -c 'import ctypes, sys; words = [word.encode() for word in sys.argv]; ctypes.CDLL(sys.argv[1]).attack(3, (ctypes.c_char_p * 4)(*words[1:]))' \
        "$own/attacker.so" get a
}
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
    check 'A18 in a unit of another'"'"'s name: not found' \
        equals "$(bash -c 'echo $$ >"$0/cgroup.procs" && grep -q "/mail.service$" /proc/self/cgroup && shift 0 && exec "$@"' "$mounted/vauban-attack.slice/mail.service" setpriv --reuid vauban-test-alice --regid vauban-test-alice --clear-groups "$own/attacker" get a)" 'refused 13'
    rmdir "$mounted/vauban-attack.slice/mail.service" "$mounted/vauban-attack.slice"
else
    not_tried A18 'no control group can be made here'
fi

# Code in another program.
preloaded() { rm -f "$own/loot"; as vauban-test-alice LOOT="$own/loot" "$@"; }
looted() { grep -qaF inside "$own/loot" && { [ "${1:-}" = nothing ] && ! grep -qaF 'of mail' "$own/loot" || { [ "${1:-}" = secret ] && grep -qaF 'of mail' "$own/loot"; }; }; }
check 'A19 a library preloaded into an installed program: asked, and nobody is there' \
    eval 'equals "$(preloaded LD_PRELOAD="$own/preloaded.so" /usr/local/games/bin/mail get a)" -25308 && looted nothing'
check 'A20 an audit module of the loader: asked' eval 'equals "$(preloaded LD_AUDIT="$own/preloaded.so" /usr/local/games/bin/mail get a)" -25308 && looted nothing'
check 'A21 a preloaded library that moves into memory of its own: succeeds' \
    eval 'equals "$(preloaded HIDE=1 LD_PRELOAD="$own/preloaded.so" /usr/local/games/bin/mail get a)" "0 of mail" && looted secret'
check 'A21 one that moves into written pages of a library of root'"'"'s: succeeds' \
    eval 'equals "$(preloaded HIDE="$(readlink -f "$loader")" LD_PRELOAD="$own/preloaded.so" /usr/local/games/bin/mail get a)" "0 of mail" && looted secret'
check 'A22 a program that runs under a trace: asked' equals "$(by alice "$bin/hardening-probe" trace /usr/local/games/bin/mail get a)" -25308
check 'A22 one of which another thread than the first is traced: asked' equals "$(attack shadow /usr/local/games/bin/known threaded a)" 'refused 23'
check 'A22 control: with a second thread that nobody traces' equals "$(by alice /usr/local/games/bin/known threaded a)" 'value of mail'
check 'A23 a program that was changed under a trace and let go: succeeds' equals "$(attack inject x a /usr/local/games/bin/mail get x)" '0 of mail'
cp "$bin/keychain-caller" "$own/tool" && printf tool >>"$own/tool" && chown vauban-test-alice "$own/tool"
by alice "$own/tool" add t 'of the tool' >/dev/null
# A131: neither the executable nor the namespaces show it, and programs that generate code also have memory without a file.
if space true 2>/dev/null; then
    check 'A131 in a user namespace, a process that shares its memory has the kernel name an installed program: succeeds' \
        equals "$(attack masquerade a /usr/local/games/bin/mail)" 'value of mail'
    # It stores an item under a name that no other item has; a program without an identity prompts for it.
    by alice "$own/tool" add a 'of the tool' >/dev/null
    for folder in lower upper work merged; do by alice mkdir -p "$own/overlay/$folder"; done
    by alice cp "$own/attacker" "$own/overlay/lower/program"
    (behind alice unshare -Ur --mount sh -c "mount -t overlay overlay -o 'lowerdir=$own/overlay/lower,upperdir=$own/overlay/upper,workdir=$own/overlay/work' '$own/overlay/merged' && echo mounted; exec sleep infinity") >"$TMPDIR/mounting" 2>&1 & mounter=$!
    until grep -q mounted "$TMPDIR/mounting" || ! runs "$mounter"; do [ "$(cat "/proc/$mounter/comm" 2>/dev/null)" != sleep ] || break; done
    if grep -q mounted "$TMPDIR/mounting"; then
        check 'A132 on an overlay that the user mounted, it is exchanged for another program while it runs: asked, and nobody is there' \
            equals "$(by alice "/proc/$mounter/root$own/overlay/merged/program" exchange a "$own/overlay/lower/program" "$own/tool")" 'refused 23'
        check 'A132 its content was the other program'"'"'s then' cmp "$own/overlay/lower/program" "$own/tool"
    else
        not_tried A132 'no overlay can be mounted in a user namespace here'
    fi
    kill "$mounter" 2>/dev/null
else
    not_tried 'A131 A132' 'nobody but root may make user namespaces here'
fi
check 'A24 a library preloaded into a program of the user'"'"'s own: succeeds' \
    eval 'equals "$(preloaded LD_PRELOAD="$own/preloaded.so" "$own/tool" get t)" "0 of the tool" && grep -qaF "of the tool" "$own/loot"'
check 'A25 a program of the user'"'"'s own, with other content at its path and the old times: asked' \
    eval 'by alice touch -r "$own/tool" "$own/times" && printf "x" |
        as vauban-test-alice dd of="$own/tool" bs=1 seek="$(($(stat -c %s "$own/tool") - 1))" conv=notrunc 2>/dev/null &&
        by alice touch -r "$own/times" "$own/tool" && equals "$(by alice "$own/tool" get t)" -25308'
library=$(readlink -f "$(ldd /usr/bin/python3 | sed -n 's/.*=> \(.*libc\.so[^ ]*\) .*/\1/p')")
for file in /usr/local/games/bin/mail "$library" "$loader"; do
    check "A26 writing to an installed program or its libraries, or giving them another name or mode: refused ($file)" equals "$(trespass change "$(readlink -f "$file")")" \
        "refused 13 13 1"
done
check 'A26 control: it can be done to a program of their own' equals "$(trespass change "$own/tool")" 'done'
check 'A27 a program that hands its secrets to whoever starts it: succeeds' \
    equals "$(as vauban-test-alice python3 -c 'import subprocess; print(subprocess.run(["/usr/local/games/bin/mail", "get", "a"], capture_output=True, text=True).stdout, end="")')" '0 of mail'
finish
