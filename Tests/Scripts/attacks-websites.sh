#!/usr/bin/env bash
# Attacks on the passwords that websites and their applications share: by programs, by websites, and on the fetcher.
# limit: 600
set -u
command -v openssl >/dev/null || { echo 'there is no openssl here'; exit 77; }
more_programs=vauban-fetcher more_namespaces=--net keychain_words="--fetcher-uid $(id -u vauban-test-fetcher 2>/dev/null)"
. Tests/Scripts/lib/attacks.sh
. Tests/Scripts/lib/websites.sh
hostile='types duplicate signed html broken status huge endless redirect slow self expired misnamed changing inside'
# shellcheck disable=SC2046,SC2086
domains shop TEAM123456.com.example.shop webcredentials:shop.example $(printf 'webcredentials:%s.example ' $hostile)
domains other TEAM123456.com.example.other webcredentials:shop.example
start_rooms
start_websites
with_passcode alice passcode set 2>/dev/null || { echo 'no passcode could be set'; exit 1; }
agree 'shop.example/anna'
check 'the application of a site saves a password' eval 'equals "$(web shop save shop.example anna secret)" 0 && approved'
agree 'shop.example/anna'
check 'and gets it' eval 'equals "$(web shop pick shop.example)" "0 shop.example anna secret" && approved'

# By programs.
# each_verb WANT COMMAND...: all three calls are refused alike.
each_verb() {
    want=$1; shift
    for verb in 'pick shop.example' 'save shop.example anna x' 'delete shop.example anna'; do
        # shellcheck disable=SC2086
        begins "$want" "$("$@" $verb)" || return 1
    done
}
install -o vauban-test-alice -g vauban-test-alice -m 755 /usr/local/games/bin/shop "$own/shop"
printf mine >>"$own/shop"
check 'A160 a program without root'"'"'s grant asks for passwords of a website, also as a changed copy of one that has it' each_verb -34018 as vauban-test-alice "$own/shop" web
check 'A161 a program of root'"'"'s grant that the website does not list asks for them' each_verb -25293 web other
check 'A162 a website lists programs to which root granted nothing' eval 'install -m 755 "$bin/keychain-caller" /usr/local/games/bin/more && printf more >>/usr/local/games/bin/more && begins -34018 "$(web more pick shop.example)"'
check 'A163 a granted application tries passwords of its own site by saving them: it learns which one is saved, and succeeds' eval 'equals "$(web shop save shop.example anna secret)" 0 && begins -25308 "$(web shop save shop.example anna guess)"'
check 'it takes what was saved for a site of others, also through vauban' eval 'begins -34018 "$(web shop pick others.example)" && equals "$(by alice /usr/local/games/bin/shop get anna)" -25300'

# By websites. Each fails for its own reason, a deadline among them, and the others are served meanwhile.
fails() {
    site=$1 why=$2
    # If this machine halts, the fetcher gives up before it has the reason, and would remember that.
    for _ in 1 2 3; do
        said=$(web shop pick "$site.example")
        [[ $why != *seconds* && $said == *'longer than 6 seconds'* ]] || break
        anew
    done
    begins '-25293 (0)' "$said" && case $said in *"$why"*) ;; *) echo "    $said"; return 1 ;; esac
}
check 'A164 ten megabytes, announced or endless' eval 'fails huge "larger than 128 KiB" && fails endless "larger than 128 KiB"'
check 'A164 wrong types, keys twice, half a file, a signed one, another type of content, an error' eval 'fails types "not an array of strings" && fails duplicate "not strict JSON" && fails broken "not strict JSON" && fails signed "is signed" && fails html "application/json" && fails status "status 503"'
check 'A164 a byte a second' eval 'fails slow "longer than 6 seconds"'
check 'A165 a redirect to a site that lists the application' eval 'fails redirect "redirects are not followed" && equals "$(requests shop.example)" 1'
check 'A166 a certificate that nobody vouches for, an old one, one of another host' eval 'fails self "(trust)" && fails expired "(expired)" && fails misnamed "(host)"'
check 'A168 another certificate than the one that was checked, and an end of the connection soon after' eval 'fails changing "(trust)" && fails changing "(trust)"'
agree 'shop.example/anna'
check 'no room is harmed' eval 'kill -0 "$fetcher_pid" && equals "$(web shop pick shop.example)" "0 shop.example anna secret" && approved'

# By names that resolve to what only this machine reaches.
check 'A186 a name that resolves to an address that is not public: not connected to' eval 'fails inside "address is not public" && equals "$(connections)" 0'
check 'A186 nor with a list of networks that others can write' eval 'networks 127.0.0.2 && chmod 666 /etc/vauban/networks && anew && fails inside "address is not public" && equals "$(connections)" 0'
mark_log
check 'A186 nor with lines in another form, which the log names' eval 'networks 127.0.0.1 127.2 0177.0.0.2 127.0.0.2/8 127.0.0.2%lo && anew && fails inside "address is not public" && equals "$(connections)" 0 && logged line=2 && logged line=3 && logged line=4 && logged line=5'
check 'A186 control: with its address in the list it is connected to' eval 'networks 127.0.0.1 127.0.0.2 && anew && begins "-25300 (0)" "$(web shop pick inside.example)" && [ "$(connections)" -gt 0 ]'

# On the fetcher.
cat >"$TMPDIR/knock.py" <<'PYTHON'
import socket
connection = socket.socket(socket.AF_UNIX)
connection.settimeout(60)
try:
    connection.connect("/run/vauban/fetcher")
    print("hello" if connection.recv(1) else "nothing")
except ConnectionResetError:
    print("nothing")
PYTHON
chmod 644 "$TMPDIR/knock.py"
check 'keychaind is greeted at the fetcher'"'"'s socket' equals "$(as vauban-test-keychain python3 "$TMPDIR/knock.py")" hello
check 'A167 anybody else asks the fetcher to visit a website' each_stranger vauban-test-keychain nothing python3 "$TMPDIR/knock.py"
finish
