#!/usr/bin/env bash
# Attacks on signed programs: signatures that are forged, stolen or old, foreign code in a signed program, and the team's key. Each check is an
# attack of Manual/attacks.md.
set -u
. Tests/Scripts/lib/attacks.sh
begin_attacks
gcc -shared -fPIC -O1 -o "$own/preloaded.so" Tests/Scripts/lib/preloaded.c -ldl && chmod 755 "$own/preloaded.so" || exit 1
# build NAME TEXT: an unsigned program of alice; each text makes another build.
build() { { cat "$bin/keychain-caller"; printf '%s' "$2"; } >"$own/$1.new" && chown vauban-test-alice "$own/$1.new" && chmod 755 "$own/$1.new" && mv "$own/$1.new" "$own/$1"; }
sign() { alice codesign --sign "$1" --identifier "$2" "$3" 2>"$TMPDIR/signed" || { cat "$TMPDIR/signed"; return 1; }; }
# tool is a program of a team that alice trusts, and stores the secret `t`. Hostile programs are built by another team or are unsigned.
team=$(alice team new acme 2>/dev/null) && alice team new rivals >/dev/null 2>&1 || { echo 'no team could be made'; exit 1; }
printf '%s\n' "expect every program signed by Acme ($team)" 'expect asscode' 'secret alice passcode' 'expect keep their items' >"$TMPDIR/trust"
play alice "$bin/vauban" team trust acme --name Acme <"$TMPDIR/trust" >"$TMPDIR/shown" || { cat "$TMPDIR/shown"; exit 1; }
build tool one && sign acme com.acme.tool "$own/tool" || exit 1
equals "$(by alice "$own/tool" add t 'of the tool')" 0 || exit 1
reads() { equals "$(by alice "$1" get t)" '0 of the tool'; }
finds_nothing() { equals "$(by alice "$1" get t)" -25300 && equals "$(by alice "$1" get t - "$team.com.acme.tool")" -34018; }
build next two && sign acme com.acme.tool "$own/next" || exit 1
check 'the next build of the team reads the secret' reads "$own/next"

build hostile hos
check 'A170 it signs itself with a key of its own, under the same identifier: not found' eval 'sign rivals com.acme.tool "$own/hostile" && finds_nothing "$own/hostile"'
build thief thi
check 'A171 it takes the signature of the other program: not found' \
    eval '{ cat "$own/thief"; tail -c 16384 "$own/tool"; } >"$own/stolen" && chmod 755 "$own/stolen" && finds_nothing "$own/stolen"'
check 'A171 it is that program with code of its own before it: not found' \
    eval '{ cat "$own/thief" "$own/tool"; } >"$own/both" && chmod 755 "$own/both" && finds_nothing "$own/both"'
# Altered by python3, at the offset of the description: the size and digest of the thief in place of those of the tool.
check 'A172 it alters the signature, so that it is of its own content: not found' eval '
    python3 - "$own/tool" "$own/thief" "$own/altered" <<"PYTHON" && chmod 755 "$own/altered" && finds_nothing "$own/altered" && alice codesign --display "$own/altered" | grep -q "was altered"
import hashlib, sys
signed, thief = (open(path, "rb").read() for path in sys.argv[1:3])
content, area = signed[:-16384], signed[-16384:]
# A description encodes the length in as many bytes, so the content is padded to the same length.
thief += bytes(len(content) - len(thief))
digest = hashlib.sha256(content).digest()
assert area.count(digest) == 1
open(sys.argv[3], "wb").write(thief + area.replace(digest, hashlib.sha256(thief).digest()))
PYTHON'
check 'A173 it changes one byte of the signed program: not found' \
    eval 'cp -p "$own/tool" "$own/changed" && printf X |
        dd of="$own/changed" bs=1 seek=$(($(stat -c %s "$own/changed") - 16385)) conv=notrunc 2>/dev/null && finds_nothing "$own/changed"'
# keychaind sleeps, so that the program waits for it while its file is written.
check 'A173 while the program runs: refused by the kernel' eval '
    kill -STOP "$keychain_pid"
    behind alice "$own/tool" get t >"$TMPDIR/running" 2>&1 & running=$!
    until [ "$(readlink "/proc/$running/exe")" = "$own/tool" ] || ! runs "$running"; do :; done
    by alice sh -c "printf X | dd of=\"$own/tool\" bs=1 conv=notrunc" 2>"$TMPDIR/busy"; written=$?
    kill -CONT "$keychain_pid"; wait "$running"
    [ "$written" != 0 ] && says "Text file busy" "$TMPDIR/busy" && equals "$(cat "$TMPDIR/running")" "0 of the tool"'
check 'A174 a library preloaded into the signed program: not found' \
    eval 'equals "$(by alice env LOOT="$own/loot" LD_PRELOAD="$own/preloaded.so" "$own/tool" get t)" -25300 && grep -qx inside "$own/loot" && ! grep -qaF "of the tool" "$own/loot"'
# hidden PROGRAM WHERE: what the program finds, with a library in it that was moved there.
hidden() { rm -f "$own/loot"; by alice env HIDE="$2" LOOT="$own/loot" LD_PRELOAD="$own/preloaded.so" "$1" get t; }
library=$(readlink -f "$(ldd /usr/bin/python3 | sed -n 's/.*=> \(.*libc\.so[^ ]*\) .*/\1/p')")
for where in memory "$library"; do
    check "A175 a preloaded library that moves into memory of its own, or written pages of root's: not found ($where)" \
        eval 'equals "$(hidden "$own/tool" "$where")" -25300 && grep -qx inside "$own/loot" && ! grep -qaF "of the tool" "$own/loot"'
done
check 'A185 one whose code cannot be executed at the moment of the check, and can afterwards: succeeds' \
    eval 'rm -f "$own/loot"; equals "$(by alice env STILL=1 HIDE=memory LOOT="$own/loot" LD_PRELOAD="$own/preloaded.so" "$own/tool" get t)" "0 of the tool" &&
        grep -qx inside "$own/loot" && grep -qaF "of the tool" "$own/loot"'
# A program whose team permits it to generate code has such memory itself.
printf '<plist version="1.0"><dict><key>com.apple.security.cs.allow-jit</key>\n<true/></dict></plist>' >"$own/jit.plist" && chmod 644 "$own/jit.plist"
build compiler jit && alice codesign --sign acme --identifier com.acme.tool --entitlements "$own/jit.plist" "$own/compiler" 2>"$TMPDIR/signed" || { cat "$TMPDIR/signed"; exit 1; }
check 'A175 into a program that may make code by its entitlements: succeeds in memory' \
    eval 'equals "$(hidden "$own/compiler" memory)" "0 of the tool" && grep -qaF "of the tool" "$own/loot"'
check 'A175 and is not found in written pages' equals "$(hidden "$own/compiler" "$library")" -25300
if as vauban-test-alice unshare -Ur true 2>/dev/null; then
    check 'A180 in a user namespace, a process that shares its memory has the kernel name the signed program: not found' \
        equals "$(by alice "$own/attacker" masquerade t "$own/tool")" 'refused 13'
    check 'A180 one that may make code by its entitlements: succeeds' equals "$(by alice "$own/attacker" masquerade t "$own/compiler")" 'value of the tool'
    python=$(ls /usr/lib/*/libpython3.*.so.1.0 2>/dev/null | head -n 1)
    if [ -n "$python" ] && [ "$(uname -m)" = x86_64 ]; then
        printf 'int Py_BytesMain(int, char **);\nint main(int count, char **words) { return Py_BytesMain(count, words); }\n' >"$TMPDIR/starter.c"
        gcc -o "$own/starter" "$TMPDIR/starter.c" "$python" && chmod 755 "$own/starter" && install -m 644 Tests/Scripts/lib/masquerade.py "$own/masquerade.py"
        check 'A181 the same with the code of libraries of root'"'"'s alone: succeeds' \
            equals "$(by alice "$own/starter" -I -S "$own/masquerade.py" t "$own/tool")" 'value of the tool'
    else
        not_tried A181 'there is no library of Python here'
    fi
else
    not_tried 'A180 A181' 'nobody but root may make user namespaces here'
fi
# Root mounts it here, as a desktop does for its user. The user can write the image below the file system at any time.
disk=$TMPDIR/disk; mkdir "$disk"
if by alice truncate -s 96M "$own/image" && mkfs.ext4 -q "$own/image" 2>/dev/null && mount -o loop,nosuid "$own/image" "$disk" 2>/dev/null; then
    install -o vauban-test-alice -m 755 "$own/tool" "$disk/tool" && sync "$disk/tool"
    # Its last change must be some time ago, as of a file that existed when the disk was mounted.
    until [ $(($(date +%s) - $(stat -c %Z "$disk/tool"))) -gt 4 ]; do :; done
    check 'A182 control: the signed program on a disk image of the user'"'"'s is itself' reads "$disk/tool"
    check 'A182 its content is exchanged below the file system, after it was identified: succeeds' eval '
        by alice python3 - "$own/image" "$disk/tool" <<"PYTHON" && reads "$disk/tool" && ! cmp -s "$disk/tool" "$own/tool" && ! alice codesign --verify "$disk/tool" >/dev/null 2>&1
import mmap, os, sys
program = os.open(sys.argv[2], os.O_RDONLY)
content = os.pread(program, 1 << 30, 0)[:-16384]
with open(sys.argv[1], "r+b") as file, mmap.mmap(file.fileno(), 0) as image:
    # The other program differs in one byte at its end, which is never read.
    start = image.find(content[-4096 - len(content) % 4096:])
    assert start >= 0
    image[start + 4096 + len(content) % 4096 - 1] ^= 1
os.posix_fadvise(program, 0, 0, os.POSIX_FADV_DONTNEED)
PYTHON'
    umount "$disk"
else
    not_tried A182 'no disk image can be mounted here'
fi
check 'A176 it starts an older build of the signed program, which has an error: succeeds' eval 'cp -p "$own/tool" "$own/older" && mv "$own/next" "$own/tool" && reads "$own/older"'
check 'A177 it has vauban trust its own team: refused without approval' eval 'refused 36 alice team trust rivals && finds_nothing "$own/hostile"'
check 'A178 it signs itself with the key of the team, through vauban: succeeds' eval 'sign acme com.acme.tool "$own/thief" && reads "$own/thief"'
careful=$(alice team new careful --require presence 2>/dev/null)
build guarded gua
check 'A178 a key that requires approval signs nothing without it' \
    eval '[ -n "$careful" ] && ! alice codesign --sign careful "$own/guarded" 2>"$TMPDIR/out" && ! tail -c 16 "$own/guarded" | grep -q "vauban signed"'
check 'A179 its entitlements name what belongs to others: refused' eval '
    printf "<plist version=\"1.0\"><dict><key>keychain-access-groups</key><array><string>TEAM.mail</string><string>cli</string></array></dict></plist>" \
    >"$own/foreign.plist" && chmod 644 "$own/foreign.plist" &&
    build greedy gre && ! alice codesign --sign acme --entitlements "$own/foreign.plist" "$own/greedy" 2>"$TMPDIR/out" && grep -q "does not belong to the team" "$TMPDIR/out" &&
    equals "$(by alice "$own/tool" get a - "program:/usr/local/games/bin/mail")" -34018 && equals "$(by alice "$own/tool" get a)" -25300'
finish
