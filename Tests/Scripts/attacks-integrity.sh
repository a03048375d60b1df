#!/usr/bin/env bash
# Attacks of a user's programs on a program that `vauban protect` started or that restricts itself: reading its memory, inserting code, removing
# the protection; and what such a program can do after it was taken over. Each check is an attack of Manual/attacks.md, beside the same without
# protection.
# proves-equivalent: C-237 C-240 C-241
# resource: etc
set -u
. Tests/Scripts/lib/attacks.sh
gcc -O1 -shared -fPIC -o "$TMPDIR/preloaded.so" Tests/Scripts/lib/preloaded.c 2>/dev/null || { echo 'a library cannot be built here'; exit 77; }
install -o vauban-test-alice -m 755 "$TMPDIR/preloaded.so" "$own/preloaded.so"
# As the installation sets it up, with a group that owns nothing and has no members.
protector=$bin/vauban-protect
install -m 755 "$VAUBAN_BUILD/vauban-protect" "$protector" || exit 1
chgrp vauban-test-reader "$protector" && chmod 2755 "$protector" || exit 1
begin_attacks
protect="$bin/vauban protect --"
mail=/usr/local/games/bin/mail

if [ "$(by alice "$bin/vauban" protect -- id -ru 2>"$TMPDIR/out")" != "$(id -u vauban-test-alice)" ]; then
    cat "$TMPDIR/out"
    not_tried 'A150 A151 A152 A153 A156 A157 A158 A159 A184' 'the kernel ignores the group of programs here (nosuid, or no new privileges)'
else
    # Memory, environment and descriptors.
    check 'it runs with the rights of its user' equals "$(by alice $protect id -u) $(by alice $protect id -g)" "$(by alice id -u) $(by alice id -g)"
    check 'files that it makes belong to the user and their group' \
        equals "$(by alice $protect touch "$own/made" && stat -c '%U:%G' "$own/made")" vauban-test-alice:vauban-test-alice
    mkfifo -m 666 "$TMPDIR/waits"
    (behind alice $protect cat "$TMPDIR/waits") & protected=$!
    # vauban, vauban-protect, cat: one process.
    until [ "$(cat /proc/$protected/comm)" = cat ]; do runs "$protected" || break; done
    check 'A150 a protected program: its memory, descriptors and environment: refused to another program of the user' nothing_read vauban-test-alice "$protected"
    check 'A150 and to another user' nothing_read vauban-test-bob "$protected"
    check 'A150 and to a room' nothing_read vauban-test-keychain "$protected"
    check 'A150 control: root reads all of it' all_read "$protected"
    if [ "$(placeable)" = 0 ]; then
        not_tried A187 'perf_event_open is refused to root too here'
    else
        for user in vauban-test-alice vauban-test-bob vauban-test-keychain; do
            check "A187 samples of a protected program, and a breakpoint in it: refused ($user)" nothing_placed "$user" "$protected"
        done
        check 'A187 control: root can place them' equals "$(placed_by_root "$protected")" "$(placeable)"
    fi
    check 'A150 it leaves no core' equals "$(sed -n 's/^Max core file size *//p' "/proc/$protected/limits" | tr -s ' ')" '0 0 bytes '
    if grep -q '^NoNewPrivs:[[:space:]]*1' "/proc/$protected/status"; then
        echo 'ok: it gets no new privileges'
    else
        echo 'this kernel takes the group away from programs without new privileges, so they may get some'
    fi
    # The attacker under the same protection has the same groups.
    check 'A150 and to a program that is protected itself' \
        eval 'by alice $protect "$bin/hardening-probe" attack "$protected" >"$TMPDIR/probe" 2>&1; runs "$protected" &&
            [ "$(grep -cE "${secret}refused (1|13)\$" "$TMPDIR/probe")" = 8 ] || { cat "$TMPDIR/probe"; false; }'
    check 'A150 and to a shell that has the group as its only one' \
        eval 'by alice $protect sh -c "\"$bin/hardening-probe\" attack $protected; exit" >"$TMPDIR/probe" 2>&1; runs "$protected" &&
            [ "$(grep -cE "${secret}refused (1|13)\$" "$TMPDIR/probe")" = 8 ] || { cat "$TMPDIR/probe"; false; }'
    (exec 3>"$TMPDIR/waits"); wait "$protected"

    # A program that stores an item in the keychain.
    preloaded() { rm -f "$own/loot"; as vauban-test-alice LOOT="$own/loot" "$@"; }
    looted() { grep -qaF inside "$own/loot" 2>/dev/null; }
    check 'A151 control: a library preloaded into an unprotected program is inside, and the program counts as nobody' \
        eval 'equals "$(preloaded LD_PRELOAD="$own/preloaded.so" $mail get a)" -25308 && looted'
    for variable in LD_PRELOAD LD_AUDIT; do
        check "A151 $variable for a protected program: ignored, and it is itself" \
            eval 'equals "$(preloaded $variable="$own/preloaded.so" "$protector" -- $mail get a)" "0 of mail" && ! looted'
        # `vauban` itself is started by the user's shell and is not protected: the library is in it, and nowhere else.
        check "A151 $variable for vauban protect: the secret does not reach the library" \
            eval 'equals "$(preloaded $variable="$own/preloaded.so" $protect $mail get a)" "0 of mail" &&
                equals "$(grep -ac inside "$own/loot")" 1 && ! grep -qaF "of mail" "$own/loot"'
    done
    check 'A151 nor do the programs that it starts find it' \
        equals "$(by alice env LD_PRELOAD="$own/preloaded.so" LD_LIBRARY_PATH="$own" "$bin/vauban" protect -- /usr/bin/python3 -c 'import os; print([name for name in os.environ if name.startswith("LD_")])')" '[]'

    # GTK refuses to start with two groups; a program that names its library is refused before, with the reason.
    { cat "$(readlink -f /bin/true)"; printf '\0libgtk-4.so.1\0'; } >"$own/window" && chmod 755 "$own/window"
    check 'a program that uses GTK is not started, and the message says how it can be protected' \
        eval '! by alice $protect "$own/window" 2>"$TMPDIR/out" && says "uses GTK" "$TMPDIR/out" && says "ProcessProtection.restrict()" "$TMPDIR/out" && by alice "$own/window"'

    # Removing the protection.
    check 'A152 under a tracer: not started' \
        eval 'by alice "$bin/hardening-probe" trace "$protector" -- "$mail" get a >"$TMPDIR/out" 2>&1; says "cannot be protected" "$TMPDIR/out" &&
            ! grep -q "of mail" "$TMPDIR/out"'
    check 'A152 where no new privileges can be had: not started' \
        eval 'by alice setpriv --no-new-privs "$bin/vauban" protect -- "$mail" get a >"$TMPDIR/out" 2>&1; says "cannot be protected" "$TMPDIR/out" &&
            ! grep -q "of mail" "$TMPDIR/out"'
    check 'A152 in a user namespace: not started' eval 'by alice unshare -Ur "$protector" -- "$mail" get a >"$TMPDIR/out" 2>&1; ! grep -q "of mail" "$TMPDIR/out"'
    check 'A152 a copy of the program that protects: not started' \
        eval 'by alice cp "$protector" "$own/protect" && ! by alice "$own/protect" -- "$mail" get a >"$TMPDIR/out" 2>&1 && says "cannot be protected" "$TMPDIR/out"'
    check 'A152 control: the same without tracer and namespace' equals "$(by alice $protect "$mail" get a)" '0 of mail'

    # Code that a program writes itself, as an injector does.
    writes_code='import mmap; mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC); print("written")'
    check 'A153 control: a program writes code and runs it' equals "$(by alice $protect /usr/bin/python3 -c "$writes_code")" written
    check 'A153 with --without-new-code: refused' \
        eval '! by alice "$bin/vauban" protect --without-new-code -- /usr/bin/python3 -c "$writes_code" >"$TMPDIR/out" 2>&1 && ! grep -q written "$TMPDIR/out"'

    # A protected program that was taken over, represented by the probe; without protection, or with the attempt permitted, it succeeds.
    by alice "$bin/vauban" protect --status >"$TMPDIR/status" 2>&1 || cat "$TMPDIR/status"
    is_set() { grep -qE "^$1 +set\$" "$TMPDIR/status"; }
    check 'vauban protect --status names ten protections' equals "$(wc -l <"$TMPDIR/status")" 10
    check 'the measures are printed before a command too, on standard error' \
        equals "$(by alice "$bin/vauban" protect --status -- echo command 2>"$TMPDIR/out") $(cmp "$TMPDIR/out" "$TMPDIR/status" && echo same)" 'command same'
    check 'A150 is said to be set' is_set 'Other programs of the user cannot trace or read it'
    # tries OPTIONS -- ATTEMPT…: as alice, in a program that was started with these options.
    tries() { options=; while [ "$1" != -- ]; do options="$options $1"; shift; done; shift; by alice "$bin/vauban" protect $options -- "$bin/hardening-probe" taken none "$@"; }
    tries_as_root() { options=; while [ "$1" != -- ]; do options="$options $1"; shift; done; shift; "$protector" $options -- "$bin/hardening-probe" taken none "$@"; }
    unprotected() { by alice "$bin/hardening-probe" taken none "$@"; }
    unprotected_as_root() { "$bin/hardening-probe" taken none "$@"; }
    # With the library: the program restricts itself in this way and then makes the attempts.
    restricted() { by alice "$bin/hardening-probe" taken "$@"; }
    mkfifo -m 666 "$TMPDIR/other"
    (behind alice cat "$TMPDIR/other") & other=$!
    until [ "$(cat /proc/$other/comm)" = cat ]; do runs "$other" || break; done

    if is_set 'It cannot trace or read programs outside' && is_set 'It sends them no signals'; then
        read_by() { "$@" >"$TMPDIR/probe" 2>&1; runs "$other" && [ "$(grep -cE "${secret}refused (1|13)\$" "$TMPDIR/probe")" = 8 ] || { cat "$TMPDIR/probe"; false; }; }
        check 'A156 a protected program that was taken over reads another program of the user: refused' read_by by alice $protect "$bin/hardening-probe" attack "$other"
        check 'A156 also with the system calls for it' read_by by alice "$bin/vauban" protect --allow-system-calls --allow-signals -- "$bin/hardening-probe" attack "$other"
        check 'A156 control: without these walls its environment can be read' \
            eval 'by alice "$bin/vauban" protect --allow-system-calls --allow-signals --allow-system-files -- "$bin/hardening-probe" attack "$other" 2>/dev/null |
                grep -qx "environ: done"'
        check 'A156 control: without any protection all can be read' \
            eval 'probe vauban-test-alice "$other"; [ "$(grep -v "^fd/2" "$TMPDIR/probe" | grep -cE "${secret}done")" = 7 ] || { cat "$TMPDIR/probe"; false; }'
        check 'A156 a program that restricted itself: the same' equals "$(restricted processes "read:/proc/$other/environ" "memory:$other")" "read:/proc/$other/environ refused 13
memory:$other refused 13"
        # It may read there, and finds nothing at that address.
        check 'A156 control: one that restricted itself otherwise' equals "$(restricted privileges "read:/proc/$other/environ" "memory:$other")" "read:/proc/$other/environ done
memory:$other refused 5"
        check 'A157 it signals another program of the user: refused' equals "$(tries -- "signal:$other")" "signal:$other refused 1"
        check 'A157 control: with --allow-signals' equals "$(tries --allow-signals -- "signal:$other")" "signal:$other done"
        check 'A157 a program that restricted itself: the same' equals "$(restricted processes "signal:$other")" "signal:$other refused 1"
        check 'A157 control: one that did not' equals "$(unprotected "signal:$other")" "signal:$other done"
        # Another reason than system files, of which /sys is one.
        group=/sys/fs/cgroup/cgroup.procs
        if [ "$(unprotected_as_root "change:$group")" = "change:$group done" ]; then
            check 'A157 it changes a control group, which could end others: refused' equals "$(tries_as_root --allow-system-files -- "change:$group")" "change:$group refused 13"
            check 'A157 a program that restricted itself: the same' equals "$("$bin/hardening-probe" taken processes "change:$group")" "change:$group refused 13"
            check 'A157 control: with both allowed' equals "$(tries_as_root --allow-system-files --allow-signals -- "change:$group")" "change:$group done"
        else
            echo 'open: control groups: they can only be read here'
        fi
        if is_set 'It makes no calls of debuggers and administrators'; then
            check 'A157 it limits another program: refused' equals "$(tries -- "limit:$other")" "limit:$other refused 1"
            check 'A157 a program that restricted itself: the same' equals "$(restricted calls "limit:$other")" "limit:$other refused 1"
            check 'A157 control: one that did not' equals "$(unprotected "limit:$other" limit:0)" "limit:$other done
limit:0 done"
            check 'it limits itself' equals "$(restricted calls limit:0)" 'limit:0 done'
        fi
        check 'it can signal processes that it started' by alice $protect sh -c "cat '$TMPDIR/other' & kill \$! && ! wait \$!"
    else
        not_tried A156 'this kernel has no Landlock of version 6, or takes the group away from programs without new privileges'
        not_tried A157 'the same'
    fi
    (exec 3>"$TMPDIR/other"); wait "$other"

    if is_set 'It makes no calls of debuggers and administrators' && is_set 'It makes no namespaces'; then
        # Each with arguments that the kernel refuses to root for a reason other than the missing right.
        calls='call:ptrace:0 call:process_vm_readv call:process_vm_writev call:pidfd_getfd:-1 call:bpf:99 call:perf_event_open call:userfaultfd:-1
            call:init_module call:finit_module:-1 call:delete_module call:kexec_load:0:9999 call:reboot call:mount call:umount2 call:pivot_root
            call:open_tree:-1 call:move_mount:-1 call:fsopen call:fspick:-1 call:swapon call:swapoff call:prctl:35:0:0:0:1 call:ioctl:0:21522 call:ioctl:0:21532'
        [ "$(uname -m)" != x86_64 ] || calls="$calls call:iopl:9 call:ioperm:-1"
        spaces='call:setns:-1 call:unshare:268435456 call:unshare:131072 call:unshare:128 call:clone:268435473'
        each() { for attempt in $1; do echo "$attempt $2"; done; }
        check 'A158 system calls of debuggers and administrators, also by root: refused' equals "$(tries_as_root -- $calls)" "$(each "$calls" 'refused 1')"
        check 'A158 control: root without protection is refused none of them for want of the right' \
            eval 'equals "$(unprotected_as_root $calls | grep -c .)" "$(echo $calls | wc -w)" && ! unprotected_as_root $calls | grep "refused 1\$"'
        check 'A158 control: nor with --allow-system-calls' \
            eval 'equals "$(tries_as_root --allow-system-calls --allow-system-files -- $calls | grep -c .)" "$(echo $calls | wc -w)" &&
                ! tries_as_root --allow-system-calls --allow-system-files -- $calls | grep "refused 1\$"'
        check 'A158 a program that restricted itself: the same' equals "$(restricted calls $calls)" "$(each "$calls" 'refused 1')"
        check 'A158 namespaces: refused' equals "$(tries_as_root -- $spaces call:clone3)" "$(each "$spaces" 'refused 1')
call:clone3 refused 38"
        # In a changed root directory the kernel permits no user namespaces.
        unprotected=$(unprotected_as_root $spaces call:clone3)
        check 'A158 control: root without protection may make some' eval 'grep -qvE "refused (1|38)\$" <<<"$unprotected"'
        check 'A158 control: with --allow-namespaces the same' equals "$(tries_as_root --allow-namespaces -- $spaces call:clone3)" "$unprotected"
        check 'A158 a program that restricted itself: the same' equals "$(restricted namespaces $spaces)" "$(each "$spaces" 'refused 1')"
        if [ "$(uname -m)" = x86_64 ] && gcc -o "$TMPDIR/calls32" -x c - 2>/dev/null <<'END'
int main(void) { long result; __asm__ volatile("int $0x80" : "=a"(result) : "a"(20L) : "memory"); return result > 0 ? 0 : 1; }
END
        then
            install -m 755 "$TMPDIR/calls32" "$bin/calls32"
            if by alice "$bin/calls32"; then
                check 'A158 the same calls by their numbers for 32 bits: it ends' equals "$(by alice $protect "$bin/calls32" >/dev/null 2>&1; echo $?)" 159
                check 'A158 control: with both of them allowed' by alice "$bin/vauban" protect --allow-system-calls --allow-namespaces -- "$bin/calls32"
            else
                echo 'this kernel runs no programs for 32 bits'
            fi
        fi
        printf '\177ELF\001' >"$own/old" && chmod 755 "$own/old"
        check 'a program for 32 bits is not started, and the message names the way out' \
            eval '! by alice $protect "$own/old" 2>"$TMPDIR/out" && says "is a 32-bit program" "$TMPDIR/out" && says "--allow-namespaces" "$TMPDIR/out"'
        check 'programs, threads and pipes work as before' \
            equals "$(by alice $protect /usr/bin/python3 -c 'import subprocess, threading; t = threading.Thread(target=lambda: print(subprocess.check_output(["echo", "works"]).decode(), end="")); t.start(); t.join()')" works
    else
        not_tried A158 'this kernel has no filter of system calls, or takes the group away from programs without new privileges'
    fi

    # Kernels that lack a feature, simulated by a filter that root set before.
    if gcc -O1 -o "$TMPDIR/older-kernel" Tests/Scripts/lib/older-kernel.c 2>"$TMPDIR/gcc" && "$TMPDIR/older-kernel" mseal true; then
        older() { lacks=$1; shift; "$TMPDIR/older-kernel" "$lacks" setpriv --reuid vauban-test-alice --regid vauban-test-alice --clear-groups env HOME="$own" "$@"; }
        lacking() { older "$1" "$bin/vauban" protect --status >"$TMPDIR/out" 2>&1; sed -En 's/  *not (in this kernel|together with the first)$//p' "$TMPDIR/out"; }
        check 'a kernel without Landlock: the rest is set' equals "$(lacking landlock)" "It cannot trace or read programs outside
It sends them no signals
It cannot change the system's files"
        check 'one without filters of system calls: the rest is set' equals "$(lacking seccomp)" 'It makes no calls of debuggers and administrators
It makes no namespaces'
        check 'a kernel without mseal: reported' equals "$(lacking mseal)" 'It cannot change the code that is mapped (mseal)'
        check 'a measure that the user requested and the kernel lacks: not started' \
            eval '! older landlock "$bin/vauban" protect --without-abstract-sockets -- echo started >"$TMPDIR/out" 2>&1 &&
                says "this kernel cannot keep" "$TMPDIR/out" && ! grep -q started "$TMPDIR/out"'
        check 'a kernel that removes the group from programs without new privileges: six measures are not set' equals "$(lacking privileges | wc -l)" 6
        mkfifo -m 666 "$TMPDIR/older"
        (exec "$TMPDIR/older-kernel" privileges setpriv --reuid vauban-test-alice --regid vauban-test-alice --clear-groups "$protector" -- cat "$TMPDIR/older") & older=$!
        until [ "$(cat /proc/$older/comm)" = cat ]; do runs "$older" || break; done
        check 'A150 and there too, a protected program is refused to another program of the user' nothing_read vauban-test-alice "$older"
        (exec 3>"$TMPDIR/older"); wait "$older"
        for lacks in mseal:sealed landlock:processes seccomp:calls; do
            check "a program that asks for what is missing is told so (${lacks%:*})" \
                eval '! older "${lacks%:*}" "$bin/hardening-probe" taken "${lacks#*:}" read:/dev/null >"$TMPDIR/out" 2>&1 | grep done; says "this kernel has no" "$TMPDIR/out"'
        done
        check 'a program that requests supported measures gets them' \
            equals "$(older landlock,mseal,seccomp "$bin/hardening-probe" taken supported read:/dev/null)" 'read:/dev/null done'
    else
        cat "$TMPDIR/gcc"
    fi

    if is_set "It cannot change the system's files"; then
        planted="create:/usr/vauban-test-planted create:/etc/vauban-test-planted create:/boot/vauban-test-planted change:/etc/passwd"
        [ -d /boot ] || planted="create:/usr/vauban-test-planted create:/etc/vauban-test-planted change:/etc/passwd"
        check "A159 it changes the system's programs and settings, as root: refused" \
            equals "$(tries_as_root -- $planted)" "$(for attempt in $planted; do echo "$attempt refused 13"; done)"
        check 'A159 control: with --allow-system-files' \
            eval '! tries_as_root --allow-system-files -- $planted | grep refused; rm -f /usr/vauban-test-planted /etc/vauban-test-planted /boot/vauban-test-planted'
        check 'A159 a program that restricted itself: the same' \
            equals "$("$bin/hardening-probe" taken system $planted)" "$(for attempt in $planted; do echo "$attempt refused 13"; done)"
        setting=/proc/sys/kernel/core_pattern
        if [ "$(unprotected_as_root "change:$setting")" = "change:$setting done" ]; then
            check "A159 it changes the kernel's settings, as root: refused" equals "$(tries_as_root -- "change:$setting")" "change:$setting refused 13"
            check 'A159 also if it is root only at times' \
                equals "$(setpriv --ruid vauban-test-alice "$bin/hardening-probe" taken system "change:$setting")" "change:$setting refused 13"
            check 'A159 control: with --allow-system-files' equals "$(tries_as_root --allow-system-files -- "change:$setting")" "change:$setting done"
        else
            echo "open: the kernel's settings: they can only be read here"
        fi
        if mknod "$TMPDIR/disk" b 7 0 2>/dev/null; then
            check 'A159 it makes a device, as root: refused' eval '! "$protector" -- mknod "$TMPDIR/disk2" b 7 0 2>"$TMPDIR/out" && says "ermission denied" "$TMPDIR/out"'
        fi
        check 'devices and folders of running programs can be used as before, by root too' \
            "$protector" -- sh -c 'echo text >/dev/null && mkdir /dev/shm/vauban-test-made /run/vauban-test-made && rmdir /dev/shm/vauban-test-made /run/vauban-test-made'
        as vauban-test-alice mkdir -p "$own/programs" "$own/data" && install -o vauban-test-alice -m 755 "$bin/hardening-probe" "$own/programs/tool"
        itself="change:$own/programs/tool move:$own/programs/tool remove:$own/programs/tool create:$own/programs/new move:$own/programs"
        check 'A159 its own executable, with --without-changing: refused' \
            equals "$(tries --without-changing "$own/programs/tool" -- $itself)" "$(for attempt in $itself; do echo "$attempt refused 13"; done)"
        check 'A159 a program that restricted itself: the same' equals "$(restricted "keep=$own/programs" $itself)" "$(for attempt in $itself; do echo "$attempt refused 13"; done)"
        check 'and it writes and moves files beside that' \
            equals "$(tries --without-changing "$own/programs" -- "create:$own/data/new" "move:$own/data/new" "remove:$own/data/new.moved")" "create:$own/data/new done
move:$own/data/new done
remove:$own/data/new.moved done"
        check 'A159 control: without that option' equals "$(tries -- $itself)" "change:$own/programs/tool done
move:$own/programs/tool done
remove:$own/programs/tool refused 2
create:$own/programs/new done
move:$own/programs done"
        check 'moving between folders works as before' \
            by alice $protect sh -c "echo text >$own/data/one && mv $own/data/one $own/two && ln $own/two $own/data/three && rm $own/two $own/data/three"
        check 'a path that does not exist is named' \
            eval '! by alice "$bin/vauban" protect --without-changing "$own/none" -- true 2>"$TMPDIR/out" && says "ould not find" "$TMPDIR/out"'
        python3 -c 'import socket, sys; s = socket.socket(socket.AF_UNIX); s.bind("\0vauban-test-abstract"); s.listen(8); print("listens", flush=True); sys.stdin.read()' \
            <"$TMPDIR/waits" >"$TMPDIR/abstract" & listener=$!
        exec {listening}>"$TMPDIR/waits"
        until_said listens "$TMPDIR/abstract"
        check 'A184 an abstract address of another program, with --without-abstract-sockets: refused' \
            equals "$(tries --without-abstract-sockets -- abstract:vauban-test-abstract)" 'abstract:vauban-test-abstract refused 1'
        check 'A184 control: without it' equals "$(tries -- abstract:vauban-test-abstract)" 'abstract:vauban-test-abstract done'
        check 'A184 a program that restricted itself: the same' equals "$(restricted sockets abstract:vauban-test-abstract)" 'abstract:vauban-test-abstract refused 1'
        exec {listening}>&-; wait "$listener"
    else
        not_tried A159 'this kernel has no Landlock of version 6, or takes the group away from programs without new privileges'
        not_tried A184 'the same'
    fi
fi

# A program that restricts itself, by the library.
mkfifo -m 666 "$TMPDIR/stays"
(behind alice "$bin/hardening-probe" protected <"$TMPDIR/stays" >"$TMPDIR/restricted" 2>&1) & restricted=$!
exec {staying}>"$TMPDIR/stays"
until_said restricted "$TMPDIR/restricted"
check 'A154 a program that restricted itself (VaubanProtection): refused' nothing_read vauban-test-alice "$restricted"
check 'A154 control: root reads all of it' all_read "$restricted"
if [ "$(placeable)" = 0 ]; then
    not_tried A187 'perf_event_open is refused to root too here'
else
    check 'A187 samples of a program that restricted itself, and a breakpoint in it: refused' nothing_placed vauban-test-alice "$restricted"
    check 'A187 control: root can place them' equals "$(placed_by_root "$restricted")" "$(placeable)"
fi
check 'A154 it can get no new privileges' grep -q '^NoNewPrivs:[[:space:]]*1' "/proc/$restricted/status"
exec {staying}>&-; wait "$restricted"
if [ "$(by alice "$bin/hardening-probe" taken sealed 'read:/dev/null' 2>"$TMPDIR/out")" = 'read:/dev/null done' ]; then
    check 'A183 it makes its own code writable, after it sealed it: refused' equals "$(by alice "$bin/hardening-probe" taken sealed own-code)" 'own-code refused 1'
    check 'A183 it writes over it through its memory as a file: refused' equals "$(by alice "$bin/hardening-probe" taken sealed,calls own-memory)" 'own-memory refused 13'
    check 'A183 control: one that makes all calls' equals "$(by alice "$bin/hardening-probe" taken sealed own-memory)" 'own-memory done'
    check 'A183 control: one that did not seal it' equals "$(by alice "$bin/hardening-probe" taken privileges own-code)" 'own-code done'
    check 'all measures of this kernel together, and the program works' \
        equals "$(by alice "$bin/hardening-probe" taken supported read:/etc/passwd thread own-code "create:$own/made2" | sed 's/refused 1*3*$/refused/')" "read:/etc/passwd done
thread done
own-code refused
create:$own/made2 done"
else
    says 'no mseal' "$TMPDIR/out"
    not_tried A183 'this kernel has no mseal (since Linux 6.10)'
fi
check 'A154 under a tracer it says so and ends' \
    eval '! by alice "$bin/hardening-probe" trace "$bin/hardening-probe" protected </dev/null >"$TMPDIR/out" 2>&1 && says "traces this one" "$TMPDIR/out"'

# One policy for every process (C-237): root's programs, and those outside of any sandbox, are inspected as all are.
with_root() { HOME=/nonexistent "$@"; }
with_root "$bin/vauban" passcode set --passcode-fd 3 3<"$TMPDIR/alice.passcode" 2>/dev/null
loader=$(ls /lib64/ld-linux-*.so.2 /lib/ld-linux-*.so.1 2>/dev/null | head -n 1)
# An unsigned item: a program without an identity prompts for it, and a program with an identity does not find it.
check 'root keeps an item that belongs to no program' equals "$(with_root "$loader" "$mail" add a 'of nobody')" 0
check 'A155 a program of root with a preloaded library: asked as any other' \
    eval 'equals "$(LOOT="$TMPDIR/loot" LD_PRELOAD="$own/preloaded.so" with_root "$mail" get a)" -25308 && grep -qaF inside "$TMPDIR/loot"'
check 'A155 control: the program itself is known, and has nothing yet' equals "$(with_root "$mail" get a)" -25300
# The rooms' own processes are tested in A01; connections across the execution of another program, in A31 to A34.
finish
