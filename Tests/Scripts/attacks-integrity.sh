#!/usr/bin/env bash
# What a user's programs do to a program that `vauban protect` started or that restricts itself, tried: reading its memory, putting code into
# it, taking the protection away. Each check is an attack of Manual/attacks.md. Beside it stands the same program without protection.
# proves-equivalent: C-237 C-240 C-241
set -u
. Tests/Scripts/lib/attacks.sh
gcc -O1 -shared -fPIC -o "$TMPDIR/preloaded.so" Tests/Scripts/lib/preloaded.c 2>/dev/null || { echo 'a library cannot be built here'; exit 77; }
install -o vauban-test-alice -m 755 "$TMPDIR/preloaded.so" "$own/preloaded.so"
# As the installation sets it up, with a group that owns nothing and of which nobody is a member.
protector=$bin/vauban-protect
install -m 755 "$VAUBAN_BUILD/vauban-protect" "$protector" || exit 1
chgrp vauban-test-reader "$protector" && chmod 2755 "$protector" || exit 1
begin_attacks
protect="$bin/vauban protect --"
mail=/usr/local/games/bin/mail

if [ "$(by alice "$bin/vauban" protect -- id -ru 2>"$TMPDIR/out")" != "$(id -u vauban-test-alice)" ]; then
    cat "$TMPDIR/out"
    not_tried 'A150 A151 A152 A153' 'the kernel ignores the group of programs here (nosuid, or no new privileges)'
else
    # Memory, environment and descriptors.
    check 'it runs with the rights of its user' equals "$(by alice $protect id -u) $(by alice $protect id -g)" "$(by alice id -u) $(by alice id -g)"
    check 'files that it makes belong to the user and their group' equals "$(by alice $protect touch "$own/made" && stat -c '%U:%G' "$own/made")" vauban-test-alice:vauban-test-alice
    mkfifo -m 666 "$TMPDIR/waits"
    (behind alice $protect cat "$TMPDIR/waits") & protected=$!
    # vauban, vauban-protect, cat: one process.
    until [ "$(cat /proc/$protected/comm)" = cat ]; do runs "$protected" || break; done
    check 'A150 a protected program: its memory, descriptors and environment: refused to another program of the user' nothing_read vauban-test-alice "$protected"
    check 'A150 and to another user' nothing_read vauban-test-bob "$protected"
    check 'A150 and to a room' nothing_read vauban-test-keychain "$protected"
    check 'A150 control: root reads all of it' all_read "$protected"
    check 'A150 it leaves no core' equals "$(sed -n 's/^Max core file size *//p' "/proc/$protected/limits" | tr -s ' ')" '0 0 bytes '
    if grep -q '^NoNewPrivs:[[:space:]]*1' "/proc/$protected/status"; then echo 'ok: it gets no new privileges'; else echo 'this kernel takes the group away from programs without new privileges, so they may get some'; fi
    # The attacker under the same protection has the same groups.
    check 'A150 and to a program that is protected itself' eval 'by alice $protect "$bin/hardening-probe" attack "$protected" >"$TMPDIR/probe" 2>&1; runs "$protected" && [ "$(grep -cE "${secret}refused (1|13)\$" "$TMPDIR/probe")" = 8 ] || { cat "$TMPDIR/probe"; false; }'
    check 'A150 and to a shell that has the group as its only one' eval 'by alice $protect sh -c "\"$bin/hardening-probe\" attack $protected; exit" >"$TMPDIR/probe" 2>&1; runs "$protected" && [ "$(grep -cE "${secret}refused (1|13)\$" "$TMPDIR/probe")" = 8 ] || { cat "$TMPDIR/probe"; false; }'
    (exec 3>"$TMPDIR/waits"); wait "$protected"

    # A program that keeps something in the keychain.
    preloaded() { rm -f "$own/loot"; as vauban-test-alice LOOT="$own/loot" "$@"; }
    looted() { grep -qaF inside "$own/loot" 2>/dev/null; }
    check 'A151 control: a library preloaded into an unprotected program is inside, and the program counts as nobody' eval 'equals "$(preloaded LD_PRELOAD="$own/preloaded.so" $mail get a)" -25308 && looted'
    for variable in LD_PRELOAD LD_AUDIT; do
        check "A151 $variable for a protected program: ignored, and it is itself" eval 'equals "$(preloaded $variable="$own/preloaded.so" "$protector" -- $mail get a)" "0 of mail" && ! looted'
        # `vauban` itself is started by the user's shell and is not protected: the library is inside it, and nowhere else.
        check "A151 $variable for vauban protect: the secret does not reach the library" eval 'equals "$(preloaded $variable="$own/preloaded.so" $protect $mail get a)" "0 of mail" && equals "$(grep -ac inside "$own/loot")" 1 && ! grep -qaF "of mail" "$own/loot"'
    done
    check 'A151 nor do the programs that it starts find it' equals "$(by alice env LD_PRELOAD="$own/preloaded.so" LD_LIBRARY_PATH="$own" "$bin/vauban" protect -- /usr/bin/python3 -c 'import os; print([name for name in os.environ if name.startswith("LD_")])')" '[]'

    # GTK refuses to start with two groups; a program that names its library is told so before.
    { cat "$(readlink -f /bin/true)"; printf '\0libgtk-4.so.1\0'; } >"$own/window" && chmod 755 "$own/window"
    check 'a program that uses GTK is not started, and how it can be protected is said' eval '! by alice $protect "$own/window" 2>"$TMPDIR/out" && says "uses GTK" "$TMPDIR/out" && says "ProcessProtection.restrict()" "$TMPDIR/out" && by alice "$own/window"'

    # Taking the protection away.
    check 'A152 under a tracer: not started' eval 'by alice "$bin/hardening-probe" trace "$protector" -- "$mail" get a >"$TMPDIR/out" 2>&1; says "cannot be protected" "$TMPDIR/out" && ! grep -q "of mail" "$TMPDIR/out"'
    check 'A152 where no new privileges can be had: not started' eval 'by alice setpriv --no-new-privs "$bin/vauban" protect -- "$mail" get a >"$TMPDIR/out" 2>&1; says "cannot be protected" "$TMPDIR/out" && ! grep -q "of mail" "$TMPDIR/out"'
    check 'A152 in a user namespace: not started' eval 'by alice unshare -Ur "$protector" -- "$mail" get a >"$TMPDIR/out" 2>&1; ! grep -q "of mail" "$TMPDIR/out"'
    check 'A152 a copy of the program that protects: not started' eval 'by alice cp "$protector" "$own/protect" && ! by alice "$own/protect" -- "$mail" get a >"$TMPDIR/out" 2>&1 && says "cannot be protected" "$TMPDIR/out"'
    check 'A152 control: the same without tracer and namespace' equals "$(by alice $protect "$mail" get a)" '0 of mail'

    # Code that a program writes itself, as an injector does.
    writes_code='import mmap; mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC); print("written")'
    check 'A153 control: a program writes code and runs it' equals "$(by alice $protect /usr/bin/python3 -c "$writes_code")" written
    check 'A153 with --without-new-code: refused' eval '! by alice "$bin/vauban" protect --without-new-code -- /usr/bin/python3 -c "$writes_code" >"$TMPDIR/out" 2>&1 && ! grep -q written "$TMPDIR/out"'
fi

# A program that restricts itself, by the library.
mkfifo -m 666 "$TMPDIR/stays"
(behind alice "$bin/hardening-probe" protected <"$TMPDIR/stays" >"$TMPDIR/restricted" 2>&1) & restricted=$!
exec {staying}>"$TMPDIR/stays"
until_said restricted "$TMPDIR/restricted"
check 'A154 a program that restricted itself (VaubanProtection): refused' nothing_read vauban-test-alice "$restricted"
check 'A154 control: root reads all of it' all_read "$restricted"
check 'A154 it can get no new privileges' grep -q '^NoNewPrivs:[[:space:]]*1' "/proc/$restricted/status"
exec {staying}>&-; wait "$restricted"
check 'A154 under a tracer it says so and ends' eval '! by alice "$bin/hardening-probe" trace "$bin/hardening-probe" protected </dev/null >"$TMPDIR/out" 2>&1 && says "traces this one" "$TMPDIR/out"'

# One policy for every process (C-237): root's programs, and those outside of any sandbox, are inspected as all are.
with_root() { HOME=/nonexistent "$@"; }
with_root "$bin/vauban" passcode set --passcode-fd 3 3<"$TMPDIR/alice.passcode" 2>/dev/null
loader=$(ls /lib64/ld-linux-*.so.2 /lib/ld-linux-*.so.1 2>/dev/null | head -n 1)
# What nobody owns: whoever has no identity is asked about it, and a program with a name does not find it.
check 'root keeps an item that belongs to no program' equals "$(with_root "$loader" "$mail" add a 'of nobody')" 0
check 'A155 a program of root with a preloaded library: asked as any other' eval 'equals "$(LOOT="$TMPDIR/loot" LD_PRELOAD="$own/preloaded.so" with_root "$mail" get a)" -25308 && grep -qaF inside "$TMPDIR/loot"'
check 'A155 control: the program itself is known, and has nothing yet' equals "$(with_root "$mail" get a)" -25300
# The rooms' own processes are tried in A01; what a connection survives when a program is executed, in A31 to A34.
finish
