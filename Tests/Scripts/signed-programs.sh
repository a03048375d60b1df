#!/usr/bin/env bash
# Signed programs in system mode: teams, builds, access groups from entitlements, and what a signature does not cover; with the shipped
# rooms, real users and real programs through Apple's API.
# proves: C-031 C-033
set -u
. Tests/Scripts/lib/system-rooms.sh

own=$TMPDIR/alice
by() { who=$1; shift; as "vauban-test-$who" "$@"; }
# build NAME TEXT: alice's own program; each text makes another build.
build() {
    cp "$bin/keychain-caller" "$own/$1.new" && printf '%s' "$2" >>"$own/$1.new" && chown vauban-test-alice "$own/$1.new" && chmod 755 "$own/$1.new" && mv "$own/$1.new" "$own/$1"
}
start_rooms
check 'alice sets a passcode' eval 'with_passcode alice passcode set 2>/dev/null'
check 'bob sets another' eval 'with_passcode bob passcode set 2>/dev/null'

# Keys, and signatures as files.
check 'alice creates a team, and its identifier is printed' eval 'team=$(alice team new acme 2>/dev/null) && printf %s "$team" | grep -Eqx "[A-Z2-7]{32}"'
check 'a name is given once' refused 45 alice team new acme
check 'bob creates another' eval 'rivals=$(bob team new rivals 2>/dev/null) && [ "$rivals" != "$team" ]'
check 'her own teams are listed' eval 'alice team list 2>/dev/null | grep -qx "own	$team	acme"'
build tool one
check 'an unsigned program is not valid' eval '! alice codesign --verify "$own/tool" >"$TMPDIR/out" 2>&1 && grep -q "not signed" "$TMPDIR/out"'
check 'a program is signed' eval 'alice codesign --sign acme --identifier com.acme.tool "$own/tool" 2>"$TMPDIR/err" && grep -q "com.acme.tool by acme ($team)" "$TMPDIR/err"'
check 'its signature is valid' eval 'alice codesign --verify "$own/tool" | grep -q "signed as com.acme.tool by $team (not trusted here)"'
check 'for bob too, without a key' \
    eval 'cp "$own/tool" "$TMPDIR/bob/tool" && chown vauban-test-bob "$TMPDIR/bob/tool" && bob codesign --verify "$TMPDIR/bob/tool" | grep -q "$team"'
check 'it keeps its mode, and nothing is left beside it' eval '[ "$(stat -c %a "$own/tool")" = 755 ] && equals "$(ls -A "$own" | grep -c partial)" 0'
check 'without its signature it is the same file as before' \
    eval 'cp -p "$own/tool" "$own/bare" && chown vauban-test-alice "$own/bare" && alice codesign --remove "$own/bare" 2>/dev/null &&
        { cat "$bin/keychain-caller"; printf one; } | cmp - "$own/bare"'
check 'OpenSSL verifies it, as the manual says' eval '
    alice codesign --display --json "$own/tool" >"$TMPDIR/signature.json" &&
    sed -n "/^vauban codesign --display --json tool/,/^openssl dgst -sha256 -binary/p" Manual/signing.md | tail -n +2 >"$TMPDIR/verify.sh" &&
    (cd "$TMPDIR" && bash verify.sh) >"$TMPDIR/verified" && grep -q "Verified OK" "$TMPDIR/verified" && grep -qx "$team" "$TMPDIR/verified"'
# Signed by root for alice: the file stays hers, with its other attributes.
check 'root signs a program of hers, and it stays hers' eval '
    cp -p "$own/tool" "$own/kept" && chown vauban-test-alice:vauban-test-bob "$own/kept" && chmod 750 "$own/kept"
    python3 -c "import os, sys; os.setxattr(sys.argv[1], \"user.note\", b\"kept\")" "$own/kept" 2>/dev/null; noted=$?
    "$bin/vauban" codesign --remove "$own/kept" 2>"$TMPDIR/out" || { cat "$TMPDIR/out"; exit 1; }
    equals "$(stat -c "%U:%G %a" "$own/kept")" "vauban-test-alice:vauban-test-bob 750" &&
    { [ "$noted" != 0 ] || equals "$(python3 -c "import os, sys; print(os.getxattr(sys.argv[1], \"user.note\").decode())" "$own/kept")" kept; }'
check 'a script cannot be signed' \
    eval 'printf "#!/bin/sh\n" >"$own/script" && chmod 755 "$own/script" && refused 64 alice codesign --sign acme "$own/script" && grep -q "only ELF files" "$TMPDIR/out"'
check 'a team that is not hers cannot sign' eval '! alice codesign --sign acne "$own/tool" >"$TMPDIR/out" 2>&1 && grep -q "Did you mean acme" "$TMPDIR/out"'
check 'an expiration in the past is refused' eval '! alice codesign --sign acme --expires 2001-01-01 "$own/tool" 2>"$TMPDIR/out" && grep -q future "$TMPDIR/out"'

# What a program learns by Apple's API, of a file and of itself: the status of its validity, and of the information with the identifier, the team,
# the time of the signature, the digest of the content and the groups.
signature() { "$@" | sed -E 's/ [0-9]{9,} / TIME /'; }
of_file="$bin/keychain-caller signature"
content=$({ cat "$bin/keychain-caller"; printf one; } | sha256sum | cut -d ' ' -f 1)
check 'SecStaticCode: a valid signature, with its information' equals "$(signature by alice $of_file "$own/tool")" "0 0 com.acme.tool $team TIME $content -"
check 'SecCode: the program finds the same of itself' equals "$(signature by alice "$own/tool" signature self)" "0 0 com.acme.tool $team TIME $content -"
signed=$(date -u -d "$(sed -n 's/.*"signed" *: *"\([^"]*\)".*/\1/p' "$TMPDIR/signature.json")" +%s)
check 'its time is that of the signature' equals "$(by alice $of_file "$own/tool" | cut -d ' ' -f 5)" "$signed"
check 'SecStaticCode: no signature, and no information' eval 'equals "$(by alice $of_file "$own/bare")" "-67062 0 - - - - -" && equals "$(by alice "$own/bare" signature self)" "-67062 0 - - - - -"'
check 'SecStaticCode: one byte was changed after it was signed' \
    eval 'cp -p "$own/tool" "$own/damaged" && printf X |
        dd of="$own/damaged" bs=1 seek=$(($(stat -c %s "$own/damaged") - 16384 - 1)) conv=notrunc 2>/dev/null &&
        equals "$(by alice $of_file "$own/damaged")" "-67061 -67061 - - - - -" && equals "$(by alice "$own/damaged" signature self)" "-67061 -67061 - - - - -"'
check 'SecStaticCode: no file' equals "$(by alice $of_file "$own/missing")" -67068
# A signature that has expired where the clock shows a later day: it expires at the beginning of the day after tomorrow.
gcc -O1 -shared -fPIC -DCLOCK_FILE='"/nonexistent"' -o "$own/moved-clock.so" Tests/Scripts/lib/moved-clock.c && chmod 755 "$own/moved-clock.so" || failures=$((failures + 1))
later() { as vauban-test-alice LD_PRELOAD="$own/moved-clock.so" VAUBAN_TEST_CLOCK=$((3 * 86400)) "$@"; }
build passing one; alice codesign --sign acme --identifier com.acme.tool --expires "$(date -u -d '2 days' +%F)" "$own/passing" 2>/dev/null
check 'a signature counts until it expires' \
    eval 'equals "$(signature by alice $of_file "$own/passing")" "0 0 com.acme.tool $team TIME $content -" && alice codesign --verify "$own/passing" >/dev/null'
check 'SecStaticCode: it has expired, with its information' equals "$(signature later $of_file "$own/passing")" "-67818 0 com.acme.tool $team TIME $content -"
check 'SecCode: so the program finds of itself' equals "$(signature later "$own/passing" signature self)" "-67818 0 com.acme.tool $team TIME $content -"
check 'it is not valid on the command line either' \
    eval '! later "$bin/vauban" codesign --verify "$own/passing" >"$TMPDIR/out" 2>&1 && grep -q "com.acme.tool by $team .*; the signature expired on " "$TMPDIR/out" || { cat "$TMPDIR/out"; false; }'

# Before the team is trusted, each build is a separate program.
of_tool=build:$(sha256sum "$own/tool" | cut -d ' ' -f 1)
check 'SecTask: it has no team, and the identifier of its build' equals "$(by alice "$own/tool" task)" "$of_tool - $of_tool $of_tool"
check 'a signed program without trust adds an item as an unsigned one' \
    equals "$(by alice "$own/tool" add before x)$(by alice "$own/tool" list "")" "00 before@build:$(sha256sum "$own/tool" | cut -d ' ' -f 1)"
check 'it deletes it' equals "$(by alice "$own/tool" delete before)" 0
check 'trust needs her consent' refused 36 alice team trust acme
cat >"$TMPDIR/trust" <<PLAY
expect to change which programs may read which secrets
expect every program signed by Acme Tools ($team)
expect asscode
secret alice passcode
expect keep their items across builds
PLAY
check 'she trusts it' eval 'play alice "$bin/vauban" team trust "$own/tool" --name "Acme Tools" <"$TMPDIR/trust" >"$TMPDIR/shown" || { cat "$TMPDIR/shown"; false; }'
check 'it is listed' eval 'alice team list 2>/dev/null | grep -qx "trusted	$team	Acme Tools" && alice allow 2>/dev/null | grep -q "$team"'
check 'bob has not trusted it' eval '! bob team list 2>/dev/null | grep -q trusted'

# Two builds, one program. The first is new at its path, so that no unsigned build comes before it.
build app one; alice codesign --sign acme --identifier com.acme.app "$own/app" 2>/dev/null
check 'a signed program adds an item in its own group' equals "$(by alice "$own/app" add kept 'of the app')$(by alice "$own/app" list "")" "00 kept@$team.com.acme.app"
build app two; alice codesign --sign acme --identifier com.acme.app "$own/app" 2>/dev/null
check 'the next build reads it without a prompt' equals "$(by alice "$own/app" get kept)" '0 of the app'
cp -p "$own/app" "$own/moved"
check 'it does so at another path' equals "$(by alice "$own/moved" get kept)" '0 of the app'
build other one; alice codesign --sign acme --identifier com.acme.other "$own/other" 2>/dev/null
check 'another program of the team does not' equals "$(by alice "$own/other" get kept)" -25300
check 'nor may it name that group' equals "$(by alice "$own/other" get kept - "$team.com.acme.app")" -34018
build unsigned one
check 'nor does an unsigned program' eval 'equals "$(by alice "$own/unsigned" get kept)" -25300 && equals "$(by alice "$own/unsigned" get kept - "$team.com.acme.app")" -34018'

check 'SecTask: a program of a trusted team has its identifier and its team' \
    equals "$(by alice "$own/app" task)" "com.acme.app $team $team.com.acme.app $team.com.acme.app"
check 'SecTask: one that was changed after it was signed has neither' \
    eval 'equals "$(by alice "$own/damaged" task | cut -d " " -f 1,2)" "build:$(sha256sum "$own/damaged" | cut -d " " -f 1) -"'

# What a signature does not cover.
check 'with a library of her own in it, it is not that program' \
    eval 'gcc -shared -fPIC -o "$own/library.so" -x c - <<<"int vauban_test;" && equals "$(by alice env LD_PRELOAD="$own/library.so" "$own/app" get kept)" -25300'
check 'nor with one byte changed' \
    eval 'cp -p "$own/app" "$own/changed" && printf X |
        dd of="$own/changed" bs=1 seek=$(($(stat -c %s "$own/changed") - 16384 - 1)) conv=notrunc 2>/dev/null &&
        equals "$(by alice "$own/changed" get kept)" -25300 && ! alice codesign --verify "$own/changed" >/dev/null'
check 'nor another program under its signature' \
    eval 'cp -p "$own/unsigned" "$own/forged" && tail -c 16384 "$own/app" >>"$own/forged" && equals "$(by alice "$own/forged" get kept)" -25300 &&
        alice codesign --display "$own/forged" | grep -q "changed after it was signed"'
build rival one; cp "$own/rival" "$TMPDIR/bob/rival"; chown vauban-test-bob "$TMPDIR/bob/rival"
bob codesign --sign rivals --identifier com.acme.app "$TMPDIR/bob/rival" 2>/dev/null && cp "$TMPDIR/bob/rival" "$own/rival" && chmod 755 "$own/rival"
check 'nor the same identifier of another team' equals "$(by alice "$own/rival" get kept)" -25300
check 'nor the same program of bob, who does not trust the team' \
    eval 'cp "$own/app" "$TMPDIR/bob/app" && chown vauban-test-bob "$TMPDIR/bob/app" && equals "$(by bob "$TMPDIR/bob/app" get kept)" -25300'

# Groups of entitlements.
cat >"$own/shared.plist" <<'PLIST'
<?xml version="1.0" encoding="UTF-8"?>
<plist version="1.0"><dict>
<key>keychain-access-groups</key><array><string>$(AppIdentifierPrefix)shared</string></array>
<key>application-identifier</key><string>$(AppIdentifierPrefix)$(CFBundleIdentifier)</string>
</dict></plist>
PLIST
sed 's/$(AppIdentifierPrefix)shared/group.both/' "$own/shared.plist" >"$own/foreign.plist"
sed 's/$(AppIdentifierPrefix)shared/$(Nonsense)shared/' "$own/shared.plist" >"$own/unknown.plist"
printf 'no property list' >"$own/broken.plist"; chmod 644 "$own"/*.plist
build first one; build second one
check 'two programs of a team are signed for one group' \
    eval 'for name in first second; do alice codesign --sign acme --identifier "com.acme.$name" --entitlements "$own/shared.plist" "$own/$name" 2>"$TMPDIR/out" || exit 1; done'
check 'an item without a named group is in the shared one' equals "$(by alice "$own/first" add s 'of both')$(by alice "$own/second" get s)" '00 of both'
check 'SecStaticCode: the groups are in the information' eval 'equals "$(by alice $of_file "$own/first" | cut -d " " -f 1,2,3,4,7)" "0 0 com.acme.first $team $team.shared"'
check 'SecTask: the groups are those of its entitlements, and its own' \
    equals "$(by alice "$own/first" task)" "com.acme.first $team $team.com.acme.first $team.shared,$team.com.acme.first"
check 'each also has its own group' eval 'equals "$(by alice "$own/first" add p mine "$team.com.acme.first")" 0 && equals "$(by alice "$own/second" get p)" -25300'
check 'a program of the team that is not signed for the group may not name it' equals "$(by alice "$own/app" get s - "$team.shared")" -34018
for bad in foreign unknown broken; do
    check "entitlements that would have no effect are refused: $bad" \
        eval '! alice codesign --sign acme --identifier com.acme.first --entitlements "$own/$bad.plist" "$own/first" 2>"$TMPDIR/out" && [ -s "$TMPDIR/out" ]'
done
check 'the message says how to write the group' \
    eval '! alice codesign --sign acme --identifier com.acme.first --entitlements "$own/foreign.plist" "$own/first" 2>"$TMPDIR/out" &&
        grep -qF "Write \$(AppIdentifierPrefix)group.both" "$TMPDIR/out"'
check 'and the program keeps its signature' eval 'equals "$(by alice "$own/first" get s)" "0 of both"'

# From unsigned to signed: one prompt.
build grown one
check 'an unsigned program adds an item' equals "$(by alice "$own/grown" add g grown)" 0
alice codesign --sign acme --identifier com.acme.grown "$own/grown" 2>/dev/null
check 'once signed, it is refused without a prompt agent, and the item is not reported as missing' equals "$(by alice "$own/grown" get g)" -25308
printf '%s\n' 'expect Prompts appear here' "expect com.acme.grown (signed by Acme Tools · $own/grown" 'expect new version' 'expect asscode' \
    'secret alice passcode' 'expect Accepted' 'key ctrl-c' >"$TMPDIR/steps"
play alice "$bin/vauban" approve <"$TMPDIR/steps" >"$TMPDIR/prompt_agent" 2>&1 & prompt_agent=$!
eventually prompts_appear
check 'after her consent it reads the item' equals "$(by alice "$own/grown" get g)" '0 grown'
wait "$prompt_agent"
build grown two; alice codesign --sign acme --identifier com.acme.grown "$own/grown" 2>/dev/null
check 'its next builds do not prompt' equals "$(by alice "$own/grown" get g)" '0 grown'

# The end of trust.
check 'she withdraws the trust' eval 'alice team distrust "Acme Tools" 2>"$TMPDIR/out" && grep -q "no longer count" "$TMPDIR/out"'
check 'its programs count as unsigned again, from the next request on' eval 'equals "$(by alice "$own/app" get kept)" -25300 && equals "$(by alice "$own/second" get s)" -25300'
check 'SecTask: without trust it has no team any more' \
    eval 'equals "$(by alice "$own/app" task | cut -d " " -f 1,2)" "build:$(sha256sum "$own/app" | cut -d " " -f 1) -"'
check 'there is no trust left to withdraw' eval '! alice team distrust "Acme Tools" 2>"$TMPDIR/out" && grep -q "vauban team list" "$TMPDIR/out"'

# Root's teams count for every user, from the next start of the room on.
cat >/etc/vauban/entitlements/teams.plist <<PLIST
<?xml version="1.0" encoding="UTF-8"?>
<plist version="1.0"><dict><key>vauban-teams</key><dict><key>$team</key><string>Acme by root</string></dict></dict></plist>
PLIST
chmod 644 /etc/vauban/entitlements/teams.plist
kill "$keychain_pid"; wait "$keychain_pid" 2>/dev/null; start_keychain
eventually alice list >/dev/null 2>&1
check 'a team of root counts' equals "$(by alice "$own/app" get kept)" '0 of the app'
check 'for bob too, who gets nothing of alice' \
    eval 'equals "$(by bob "$TMPDIR/bob/app" get kept)" -25300 && equals "$(by bob "$TMPDIR/bob/app" add kept "of bob")" 0 &&
        bob team list 2>/dev/null | grep -q "Acme by root	by root"'
check 'alice cannot withdraw it' eval '! alice team distrust "$team" 2>"$TMPDIR/out" && grep -q "Root trusts" "$TMPDIR/out"'
check 'a destroyed key no longer signs' \
    eval 'alice team delete acme --yes 2>/dev/null && ! alice codesign --sign acme "$own/app" 2>/dev/null && equals "$(by alice "$own/app" get kept)" "0 of the app"'
finish
