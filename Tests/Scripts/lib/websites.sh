# For tests of websites and their applications: an HTTPS server on loopback with an authority of its own, in a network namespace where
# nothing else is, and the shipped fetcher, which trusts the machine's store: root put the authority there, in this mount namespace alone.
# To be sourced after system-rooms.sh or attacks.sh, for which more_programs, more_namespaces and keychain_words were set before.
# Root allows the fetcher to connect to the one address that the sites have. inside.example has another, 127.0.0.2.
# After this there are: start_websites, web, requests, shop and other, and the sites of websites.py.
mkdir "$TMPDIR/sites"
(
    cd "$TMPDIR/sites" || exit 1
    authority() { openssl req -x509 -newkey rsa:2048 -nodes -keyout "$1.key" -out "$1.pem" -days 30 -subj "/CN=$1" 2>>openssl.log; }
    # certificate NAME DAYS HOST...: signed by the authority.
    certificate() {
        name=$1 days=$2; shift 2
        openssl req -newkey rsa:2048 -nodes -keyout "$name.key" -out "$name.csr" -subj "/CN=$1" 2>>openssl.log &&
            printf 'subjectAltName=%s\nbasicConstraints=CA:FALSE\n' "$(printf 'DNS:%s,' "$@" | sed 's/,$//')" >"$name.ext" &&
            openssl x509 -req -in "$name.csr" -CA ca.pem -CAkey ca.key -CAcreateserial -extfile "$name.ext" -out "$name.pem" -days "$days" -sha256 2>>openssl.log
    }
    authority ca && authority stranger && certificate good 20 $(python3 "$OLDPWD/Tests/Scripts/lib/websites.py" --hosts) &&
        certificate expired -1 expired.example && certificate changing 20 changing.example && certificate misnamed 20 misnamed-by.example || { cat openssl.log; exit 1; }
    openssl req -x509 -newkey rsa:2048 -nodes -keyout self.key -out self.pem -days 30 -subj /CN=self.example -addext subjectAltName=DNS:self.example 2>>openssl.log
) || { echo 'openssl could not make the certificates'; exit 1; }
{ echo '127.0.0.1 localhost'; for host in $(python3 Tests/Scripts/lib/websites.py --hosts) self.example expired.example misnamed.example; do echo "127.0.0.1 $host"; done | sed '/ inside\.example$/s/.*/127.0.0.2 inside.example/'; } >"$TMPDIR/hosts"
printf 'hosts: files\n' >"$TMPDIR/nsswitch"; sed '/^hosts:/d' /etc/nsswitch.conf >>"$TMPDIR/nsswitch" 2>/dev/null
chmod 644 "$TMPDIR/hosts" "$TMPDIR/nsswitch" "$TMPDIR/sites/ca.pem"
store=$(realpath /etc/ssl/certs/ca-certificates.crt 2>/dev/null) || { echo 'there is no store of authorities here'; exit 77; }
mount --bind "$TMPDIR/hosts" /etc/hosts && mount --bind "$TMPDIR/sites/ca.pem" "$store" || { echo 'it cannot mount here'; exit 77; }
[ ! -e /etc/nsswitch.conf ] || mount --bind "$TMPDIR/nsswitch" /etc/nsswitch.conf

# networks LINE...: what root allows the fetcher besides public addresses, from the next question on.
networks() { printf '%s\n' "$@" >/etc/vauban/networks && chmod 644 /etc/vauban/networks; }
networks 127.0.0.1

for name in shop other; do cp "$bin/keychain-caller" "/usr/local/games/bin/$name"; printf '%s' "$name" >>"/usr/local/games/bin/$name"; chmod 755 "/usr/local/games/bin/$name"; done
# domains NAME IDENTIFIER ENTRY...: what root grants to one program.
domains() {
    program=$1 identifier=$2; shift 2
    { printf '<plist version="1.0"><dict><key>vauban-applications</key><array><string>program:/usr/local/games/bin/%s</string></array>' "$program"
      printf '<key>application-identifier</key><string>%s</string><key>com.apple.developer.associated-domains</key><array>' "$identifier"
      for entry in "$@"; do printf '<string>%s</string>' "$entry"; done
      echo '</array></dict></plist>'; } >"/etc/vauban/entitlements/site-$program.plist"
    chmod 644 "/etc/vauban/entitlements/site-$program.plist"
}
start_fetcher() { room fetcher=/run/vauban/fetcher vauban-test-fetcher "$bin/vauban-fetcher" --keychain-uid "$(id -u vauban-test-keychain)"; fetcher_pid=$!; }
start_websites() {
    python3 Tests/Scripts/lib/websites.py "$TMPDIR/sites" >"$TMPDIR/requests" 2>"$TMPDIR/websites.log" &
    timeout "$hang_seconds" tail -n +1 -F "$TMPDIR/requests" 2>/dev/null | grep -q -m 1 listening || { cat "$TMPDIR/websites.log"; echo 'the websites do not start'; exit 77; }
    start_fetcher
}
# requests HOST: how often it was asked for either address.
requests() { grep -c "^$1 " "$TMPDIR/requests"; }
# connections: how often inside.example was connected to. anew: another fetcher, which remembers no failure.
connections() { grep -c '^connection ' "$TMPDIR/requests"; }
anew() { kill "$fetcher_pid"; wait "$fetcher_pid" 2>/dev/null; start_fetcher; }
# web PROGRAM VERB [SITE] [ACCOUNT] [PASSWORD]: the status and what follows it.
web() { program=$1; shift; as vauban-test-alice "/usr/local/games/bin/$program" web "$@"; }
# begins WANT TEXT: the text begins with it.
begins() { case $2 in "$1"*) ;; *) echo "    got: $2"; echo "   want: $1"; return 1 ;; esac; }
# A prompt agent of alice's, on a terminal of its own, answers what comes.
approve() { agent_steps >"$TMPDIR/steps"; play alice "$bin/vauban" approve <"$TMPDIR/steps" >"$TMPDIR/prompt_agent" 2>&1 & prompt_agent=$!; eventually agent_waits; }
approved() { wait "$prompt_agent"; status=$?; [ "$status" = 130 ] || { cat "$TMPDIR/prompt_agent"; return 1; }; }
# agree TEXT...: a prompt agent that says yes to one prompt with these texts; decline TEXT...: the same for no.
# pick NUMBER ACCOUNT..., pick_none ACCOUNT...: the same where several accounts are offered.
texts() { for text in "$@"; do echo "expect $text"; done; }
agree() { approve < <(texts 'Prompts appear here' "$@"; printf 'expect asscode\nsecret alice passcode\nexpect Accepted\nkey ctrl-c\n'); }
decline() { approve < <(texts 'Prompts appear here' "$@"; printf 'expect asscode\nkey ctrl-c\nexpect Cancelled\nkey ctrl-c\n'); }
pick() { number=$1; shift; approve < <(texts 'Prompts appear here' 'to log in to its website' Allow: "$@"; printf 'secret %s\nexpect asscode\nsecret alice passcode\nexpect Accepted\nkey ctrl-c\n' "$number"); }
pick_none() { approve < <(texts 'Prompts appear here' Allow: "$@"; printf 'secret n\nexpect Cancelled\nkey ctrl-c\n'); }
