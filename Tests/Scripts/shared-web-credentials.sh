#!/usr/bin/env bash
# Shared web credentials in system mode: applications of websites and the user share saved passwords, with root's entitlement, the website's
# association and the user's consent; from Apple's API through the real rooms, with the shipped fetcher and real HTTPS servers. One program has
# the entitlement in its signature.
# proves: C-220 C-222 C-223 C-224 C-225 C-226 C-227 C-228 C-229
# limit: 600
set -u
command -v openssl >/dev/null && command -v python3 >/dev/null || { echo 'there is no openssl or python3 here'; exit 77; }
more_programs=vauban-fetcher more_namespaces=--net keychain_words="--fetcher-uid $(id -u vauban-test-fetcher 2>/dev/null)"
. Tests/Scripts/lib/system-rooms.sh
. Tests/Scripts/lib/websites.sh
domains shop TEAM123456.com.example.shop webcredentials:shop.example 'webcredentials:*.shop.example' webcredentials:root.example \
    webcredentials:others.example webcredentials:none.example applinks:redirect.example 'webcredentials:*.wild.example' 'webcredentials:html.example?mode=developer'
domains other TEAM123456.com.example.other webcredentials:shop.example
start_rooms
start_websites
check 'alice sets a passcode' eval 'with_passcode alice passcode set 2>/dev/null'

# Both sides.
check 'C-225 a site that root did not grant is refused' begins -34018 "$(web shop save elsewhere.example anna one)"
check 'so is one that root granted for links alone, one with a mode, and the domain above a wildcard' \
    eval 'begins -34018 "$(web shop save redirect.example anna one)" && begins -34018 "$(web shop save html.example anna one)" &&
        begins -34018 "$(web shop save wild.example anna one)" && begins -34018 "$(web shop save notshop.example anna one)"'
check 'C-227 a program that the site does not list is refused, with the reason' \
    eval 'begins -25293 "$(web other save shop.example anna one)" && web other save shop.example anna one | grep -q "shop.example does not list TEAM123456.com.example.other"'
check 'so is one for a site that lists other programs, and for a site without a file' \
    eval 'begins -25293 "$(web shop save others.example anna one)" && begins -25293 "$(web shop save none.example anna one)" &&
        web shop save none.example anna one | grep -q "has no association file"'
check 'a program without a grant has no site' begins -34018 "$(as vauban-test-alice "$bin/keychain-caller" web pick shop.example)"
check 'nor has vauban for the program that started it' eval '! alice list 2>/dev/null | grep -q shop'
check 'invalid names are refused' \
    eval 'begins -50 "$(web shop save "" anna one)" && begins -50 "$(web shop save shop.example "" one)" &&
        begins -50 "$(web shop save shop.example:99999 anna one)" && begins -50 "$(web shop save shop.example anna "")"'

# Saving.
check 'C-222 without a prompt agent nothing is saved' eval 'begins -25308 "$(web shop save shop.example anna one)" && ! alice list 2>/dev/null | grep -q shop.example'
agree 'Program:' 'shop' 'to save a password for a website' 'shop.example/anna'
check 'C-222 after her consent it is saved' equals "$(web shop save shop.example anna one)" 0
check 'the prompt appeared' approved
check 'C-220 it is one of her own passwords' eval 'equals "$(alice get shop.example/anna)" one && alice list 2>/dev/null | grep -q shop.example/anna'
check 'the same password is already saved, and does not prompt' equals "$(web shop save shop.example anna one)" 0
decline 'to change a password' 'shop.example/anna'
check 'another one prompts, and a refusal keeps the first' eval 'begins -128 "$(web shop save shop.example anna two)" && approved && equals "$(alice get shop.example/anna)" one'
agree 'to change a password' 'shop.example/anna'
check 'after her consent it is changed' eval 'equals "$(web shop save shop.example anna two)" 0 && approved && equals "$(alice get shop.example/anna)" two'
check 'and the earlier one is in its history' eval 'alice history shop.example/anna 2>/dev/null | grep -q 1'

# Choosing among the passwords that the program, the user and the browser saved.
agree 'to log in to its website' 'shop.example/anna'
check 'C-223 the program gets it after her consent, with server and account' eval 'equals "$(web shop pick shop.example anna)" "0 shop.example anna two" && approved'
check 'C-220 alice saves another for the site herself' eval 'printf three | alice set --url https://ben@shop.example/ 2>/dev/null'
check 'and one for mail, which a browser does not store' eval 'printf four | alice set --url imaps://cleo@shop.example/ 2>/dev/null'
pick 1 ben anna
check 'C-224 she picks among what is saved, the last one first' eval 'equals "$(web shop pick shop.example)" "0 shop.example ben three" && approved'
pick 2 ben anna
check 'or the other' eval 'equals "$(web shop pick shop.example)" "0 shop.example anna two" && approved'
pick_none ben anna
check 'or none' eval 'begins "-128 (0)" "$(web shop pick shop.example)" && approved'
agree 'to log in to its website' 'shop.example/ben'
check 'C-223 without a site it is the first of the entitlement' eval 'equals "$(web shop pick - ben)" "0 shop.example ben three" && approved'
check 'nothing saved is an empty array and its status' begins '-25300 (0)' "$(web shop pick shop.example nobody)"
check 'without a prompt agent nothing is returned' begins '-25308 (0)' "$(web shop pick shop.example)"

# Ports, names below a wildcard, and both places of the file.
agree 'shop.example:8443/anna'
check 'a port is kept' eval 'equals "$(web shop save shop.example:8443 anna port)" 0 && approved'
agree 'shop.example:8443/anna'
check 'and returned' eval 'equals "$(web shop pick shop.example:8443)" "0 shop.example:8443 anna port" && approved'
agree 'www.shop.example/anna'
check 'C-228 C-225 a name below the wildcard has a file of its own, with details in the other form' eval 'equals "$(web shop save www.shop.example anna www)" 0 && approved'
agree 'root.example/anna'
check 'C-226 C-229 a site with the file at its root alone, unsigned' eval 'equals "$(web shop save root.example anna root)" 0 && approved'
check 'the two addresses were requested in their order' \
    equals "$(grep '^root.example' "$TMPDIR/requests" | tr '\n' ' ')" 'root.example /.well-known/apple-app-site-association root.example /apple-app-site-association '
check 'each site received one request, however many programs sent' equals "$(requests shop.example)" 1

# Deleting, by the program and by the user.
check 'deleting a missing password succeeds without a prompt' equals "$(web shop delete shop.example nobody)" 0
check 'deleting always prompts' begins -25308 "$(web shop delete shop.example anna)"
agree 'to delete a password' 'shop.example/anna'
check 'C-222 after her yes a nil password deletes' eval 'equals "$(web shop delete shop.example anna)" 0 && approved && begins "-25300 (0)" "$(web shop pick shop.example anna)"'
check 'the one at another port stays' equals "$(alice get --url https://anna@shop.example:8443/)" port
check 'C-224 the user removes one, and the program no longer finds it' \
    eval 'alice delete --url https://ben@shop.example/ --yes >"$TMPDIR/out" 2>&1 && begins "-25300 (0)" "$(web shop pick shop.example)" || { cat "$TMPDIR/out"; false; }'

# A program that is signed with the entitlement, and of which root's files say nothing: first of a team that nobody trusts.
own=$TMPDIR/alice
printf '%s' '<plist version="1.0"><dict><key>com.apple.developer.associated-domains</key>' \
    '<array><string>webcredentials:team.example</string><string>webcredentials:shop.example</string></array></dict></plist>' >"$own/domains.plist"
chmod 644 "$own/domains.plist"
for name in signed bare; do
    cp "$bin/keychain-caller" "$own/$name" && printf '%s' "$name" >>"$own/$name" && chown vauban-test-alice "$own/$name" && chmod 755 "$own/$name"
done
own_web() { program=$1; shift; as vauban-test-alice "$own/$program" web "$@"; }
check 'alice creates a team, and signs a program with associated domains' \
    eval 'team=$(alice team new acme 2>/dev/null) && echo "$team.com.acme.site" >"$TMPDIR/sites/listed" &&
        alice codesign --sign acme --identifier com.acme.site --entitlements "$own/domains.plist" "$own/signed" 2>"$TMPDIR/out" || { cat "$TMPDIR/out"; false; }'
check 'and another one without' eval 'alice codesign --sign acme --identifier com.acme.bare "$own/bare" 2>/dev/null'
check 'without trust in the team it has no site' eval 'begins -34018 "$(own_web signed save team.example anna one)" && equals "$(requests team.example)" 0'
cat >"$TMPDIR/trust" <<PLAY
expect every program signed by Acme Tools ($team)
expect asscode
secret alice passcode
expect keep their items across builds
PLAY
check 'she trusts the team' eval 'play alice "$bin/vauban" team trust "$own/signed" --name "Acme Tools" <"$TMPDIR/trust" >"$TMPDIR/shown" || { cat "$TMPDIR/shown"; false; }'
check 'a site that its signature does not name is refused' begins -34018 "$(own_web signed save root.example anna one)"
check 'so is one that does not list it, with the name of the signature in the reason' \
    eval 'begins -25293 "$(own_web signed save shop.example anna one)" &&
        own_web signed save shop.example anna one | grep -q "shop.example does not list $team.com.acme.site"'
check 'and a program of the team whose signature names no site' begins -34018 "$(own_web bare save team.example anna one)"
agree 'signed by Acme Tools' 'to save a password for a website' 'team.example/anna'
check 'C-225 C-227 with both sides and her consent it is saved' \
    eval 'equals "$(own_web signed save team.example anna one)" 0 && approved && equals "$(alice get team.example/anna)" one'
agree 'signed by Acme Tools' 'to log in to its website' 'team.example/anna'
check 'C-223 and read' eval 'equals "$(own_web signed pick team.example)" "0 team.example anna one" && approved'
check 'no file of root names it' eval '! grep -rqs -e "$team" -e team.example /etc/vauban/entitlements'
check 'after she withdraws the trust it has no site again' \
    eval 'alice team distrust "Acme Tools" 2>/dev/null && begins -34018 "$(own_web signed pick team.example)"'

# Without the fetcher.
kill "$fetcher_pid"; wait "$fetcher_pid" 2>/dev/null
check 'without the fetcher nothing is approved, even after earlier approvals' begins -25291 "$(web shop pick root.example)"
start_fetcher
agree 'root.example/anna'
check 'with it there is approval again' eval 'equals "$(web shop pick root.example)" "0 root.example anna root" && approved'
finish
