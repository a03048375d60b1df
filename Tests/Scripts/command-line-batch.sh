#!/usr/bin/env bash
# Items by URL, items that stay on this device, binary secrets on pipes and terminals, and many items from one document.
set -u
. Tests/Scripts/lib/command-line.sh
command -v python3 >/dev/null || { echo 'there is no python3 here'; exit 77; }

# A URL stands for server, protocol, port and path; a part that it lacks matches any value.
printf one | vauban add --url https://anna@example.com:8443/login 2>/dev/null || fail 'add --url failed'
[ "$(vauban get --server example.com --account anna --protocol https --port 8443 --path /login)" = one ] || fail 'an item added by URL is not found by the parts of the URL'
[ "$(vauban get --url https://example.com/ --account anna)" = one ] || fail 'a shorter URL does not find it'
[ "$(vauban get --url https://anna@example.com:8443/login)" = one ] || fail 'the URL does not find it'
expect_status 44 vauban get --url http://example.com/
expect_status 44 vauban get --url https://example.com:8444/
expect_status 44 vauban get --url https://example.com/other
expect_status 45 vauban add --url https://anna@example.com:8443/login <<<two
printf two | vauban update --url https://anna@example.com:8443/login || fail 'update --url failed'
expect_status 0 vauban show --url https://example.com
expect_text 'Port:            8443' "$TMPDIR/out"
expect_status 0 vauban find --url https://example.com/
[ "$(cut -f1 "$TMPDIR/out")" = example.com/anna ] || fail 'find --url found something else'
expect_status 44 vauban find login --url http://example.com/
expect_status 64 vauban find
for wrong in example.com https:/// https://anna:secret@example.com/ myapp://host/ https://example.com:99999/; do
    expect_status 64 vauban get --url "$wrong"
    grep -q secret "$TMPDIR/err" && fail 'a password in a URL was shown'
done
expect_status 64 vauban get --url https://example.com/ --server example.com
expect_status 64 vauban get github/anna --url https://example.com/
expect_status 0 vauban delete --url https://example.com/
expect_status 44 vauban get --url https://example.com/

# An item of this device only stays so after an update.
printf here | vauban add here/anna --this-device || fail 'add --this-device failed'
[ "$(vauban list here/anna)" = "here/anna	unlocked, this device only" ] || fail 'the item is not limited to this device'
printf here | vauban update here/anna --when after-first-unlock
[ "$(vauban list here/anna)" = "here/anna	after-first-unlock, this device only" ] || fail 'an update removed the limit to this device'
printf away | vauban add away/anna
printf away | vauban update away/anna --this-device
[ "$(vauban list away/anna)" = "away/anna	unlocked, this device only" ] || fail 'an update did not limit the item to this device'

# Binary secrets: exact in a pipe, refused on a terminal, hexadecimal on request.
printf 'a\0\033[2J\377\n\n' >"$TMPDIR/binary"
vauban add bytes/x --keep-newline <"$TMPDIR/binary" || fail 'a binary secret was not added'
vauban get bytes/x | cmp - "$TMPDIR/binary" || fail 'get printed other bytes into a pipe'
vauban get bytes/x --raw | cmp - "$TMPDIR/binary" || fail 'get --raw printed other bytes'
digits=$(od -An -v -tx1 "$TMPDIR/binary" | tr -d ' \n')
[ "$(vauban get bytes/x --hex)" = "$digits" ] || fail 'get --hex printed other digits'
play "$VAUBAN_BUILD/vauban" get bytes/x >"$TMPDIR/out" </dev/null; [ $? = 64 ] || fail 'get printed a binary secret on a terminal'
expect_text '(9 bytes) is not text' "$TMPDIR/out"
LC_ALL=C grep -aq "$(printf '\377')" "$TMPDIR/out" && fail 'a byte reached the terminal'
play "$VAUBAN_BUILD/vauban" get bytes/x --hex >"$TMPDIR/out" </dev/null || fail 'get --hex on a terminal failed'
expect_text "$digits" "$TMPDIR/out"
play "$VAUBAN_BUILD/vauban" get bytes/x --raw >"$TMPDIR/out" </dev/null || fail 'get --raw on a terminal failed'
LC_ALL=C grep -aq "$(printf '\377')" "$TMPDIR/out" || fail 'get --raw did not print the bytes on a terminal'
printf 'Grüße\n\tund Küsse' | vauban add text/x
play "$VAUBAN_BUILD/vauban" get text/x >"$TMPDIR/out" </dev/null || fail 'text is not shown on a terminal'
expect_text 'und Küsse' "$TMPDIR/out"
vauban get bytes/x --hex | vauban add bytes/y --hex || fail 'a secret in hexadecimal was not added'
vauban get bytes/y | cmp - "$TMPDIR/binary" || fail 'a secret in hexadecimal was stored as other bytes'
printf 'DE ad\nbe EF' | vauban add bytes/z --hex && [ "$(vauban get bytes/z --hex)" = deadbeef ] || fail 'spaces between hexadecimal digits are not ignored'
expect_status 64 vauban add bytes/odd --hex <<<abc
expect_status 64 vauban add bytes/odd --hex <<<'no digits'
expect_status 44 vauban get bytes/odd
expect_status 64 vauban get bytes/x --hex --raw

# Many items from one document: an array, or a sequence of objects.
cat >"$TMPDIR/items.json" <<'JSON'
[
  { "service": "ci", "account": "deploy", "secret": "tok\u00e9n \ud83d\udd11\n\"q\" \\ \/", "readable": "after-first-unlock", "comment": "of the \u0041 team" },
  { "class": "internet password", "server": "mail.example", "account": "anna", "protocol": "imaps", "port": 993,
    "secret": { "base64": "AP8KDQ==" }, "label": "Mail" },
  { "service": "plain", "secret": "", "isInvisible": true, "generic": { "base64": "//4=" }, "owner": "cli", "asks": false }
]
JSON
expect_status 0 vauban add --json "$TMPDIR/items.json" --empty
expect_text '3 items added.' "$TMPDIR/err"
printf 'tok\303\251n \360\237\224\221\n"q" \\ /' >"$TMPDIR/want"
vauban get ci/deploy | cmp - "$TMPDIR/want" || fail 'an escaped secret was stored as another one'
[ "$(vauban get mail.example/anna --hex)" = 00ff0a0d ] || fail 'a base64 secret was stored as another one'
[ "$(vauban get --server mail.example --protocol imaps --port 993 --hex)" = 00ff0a0d ] || fail 'protocol and port were not stored'
vauban get plain | cmp - /dev/null || fail 'an empty secret is not empty'
[ "$(vauban list ci/deploy)" = "ci/deploy	after-first-unlock" ] || fail 'the protection class was not stored'
expect_status 0 vauban show ci/deploy; expect_text 'Comment:         of the A team' "$TMPDIR/out"
expect_status 0 vauban show plain --json; expect_text '"base64" : "//4="' "$TMPDIR/out"; expect_text '"isInvisible" : true' "$TMPDIR/out"
expect_status 0 vauban add --json - < <(printf '{"service":"s1","secret":"1"}\n{"service":"s2","secret":"2"}\n')
[ "$(vauban get s1)$(vauban get s2)" = 12 ] || fail 'a sequence of objects was not added'

# All or nothing: an existing or invalid item is reported with its line and key, and nothing is added.
before=$(vauban list | wc -l)
expect_status 45 vauban add --json - < <(printf '[{"service":"new","secret":"n"},\n\n{"service":"s1","secret":"other"}]')
expect_text 'line 3: s1 already exists' "$TMPDIR/err"
expect_status 44 vauban get new
# wrong TEXT DOCUMENT: the document is refused with this text, no secret is shown, and nothing is added.
wrong() {
    expect_status 64 vauban add --json - < <(printf "$2")
    expect_text "$1" "$TMPDIR/err"
    grep -q hunter2 "$TMPDIR/err" "$TMPDIR/out" && fail 'a message shows a secret'
    return 0
}
wrong 'line 2: servce: unknown key' '[{"service":"a","secret":"hunter2"},\n{"servce":"b","service":"b","secret":"hunter2"}]'
wrong 'line 1: secret: is missing' '{"service":"a"}'
wrong 'line 1: service: is missing' '{"secret":"hunter2"}'
wrong 'line 2: port: wrong type' '{"server":"a","secret":"hunter2",\n"port":[1]}'
wrong 'line 1: port: a generic password has no such attribute' '{"service":"a","secret":"hunter2","port":1}'
wrong 'line 1: port: a port must be a number up to 65535' '{"server":"a","secret":"hunter2","port":65536}'
wrong 'line 1: readable: unknown protection' '{"service":"a","secret":"hunter2","readable":"never"}'
wrong 'line 1: accessControl: unknown flag' '{"service":"a","secret":"hunter2","accessControl":["magic"]}'
wrong 'line 1: secret: is not valid base64' '{"service":"a","secret":{"base64":"hunter2"}}'
wrong 'line 2: secret: is empty; to store an empty secret, use --empty' '[{"service":"a","secret":"hunter2"},\n{"service":"b","secret":""}]'
wrong 'line 1: secret: is empty' '{"service":"a","secret":{"base64":""}}'
wrong 'line 1: secret: must be text' '{"service":"a","secret":5}'
wrong 'line 2: an earlier item has the same name' '[{"service":"a","secret":"hunter2"},\n{"service":"a","account":"","secret":"hunter2"}]'
wrong 'line 1: a key is repeated' '{"service":"a","secret":"hunter2","service":"b"}'
wrong 'line 3: a comma or a closing brace is missing' '{"service":"a",\n"secret":"hunter2"\n"account":"b"}'
wrong 'line 1: a string is never closed' '{"service":"a","secret":"hunter2'
wrong 'line 1: a string has an invalid escape' '{"service":"a","secret":"hunter2\\x"}'
wrong 'line 1: a string has an invalid escape' '{"service":"a","secret":"hunter2\\ud83d"}'
wrong 'line 1: a string has an invalid escape' '{"service":"a","secret":"hunter2\377"}'
wrong 'line 1: not valid JSON' 'service,secret\na,hunter2\n'
wrong 'line 1: a number must be an integer' '{"server":"a","secret":"hunter2","port":1.5}'
wrong 'line 1: values are nested too deeply' '[[[[[[[[[[[[1]]]]]]]]]]]]'
wrong 'line 1: an item must be an object' '["hunter2"]'
wrong 'the document contains no items' '[]'
[ "$(vauban list | wc -l)" = "$before" ] || fail 'something was added'
expect_status 64 vauban add --json - < <(python3 -c 'import json; print(json.dumps([{"service": "big", "secret": "x" * 1048577}]))')
expect_text 'is larger than 1 MiB' "$TMPDIR/err"
expect_status 0 vauban add --json - --empty < <(printf '{"service":"meant-empty","secret":""}')
vauban get meant-empty | cmp - /dev/null || fail 'an empty secret added with --empty is not empty'
vauban delete meant-empty
expect_status 64 vauban add --json - --service a </dev/null
expect_status 64 vauban add --json - --hex </dev/null
expect_status 64 vauban add --json "$TMPDIR/none.json"

# 2,000 items at once.
python3 -c 'import json, sys
print(json.dumps([{"service": f"many{n}", "account": "anna", "secret": f"v{n}"} for n in range(2000)]))' >"$TMPDIR/many.json"
expect_status 0 vauban add --json "$TMPDIR/many.json"
[ "$(vauban get many1999/anna)" = v1999 ] && [ "$(vauban list | grep -c ^many)" = 2000 ] || fail 'not all of 2,000 items were added'

# A locked keychain refuses if it cannot be unlocked, and nothing is added. An item that requires approval is added without a prompt.
set_passcode
vauban lock 2>/dev/null
printf '{"service":"locked","secret":"1"}' >"$TMPDIR/one.json"
expect_status 36 setsid --wait "$VAUBAN_BUILD/vauban" add --json "$TMPDIR/one.json"
unlock
expect_status 44 vauban get locked
expect_status 0 vauban add --json - < <(printf '{"service":"asks","secret":"1","accessControl":["userPresence"]}')
[ "$(vauban list asks)" = "asks	unlocked	prompts" ] || fail 'an access control was not stored'
echo 'URLs, items of this device, binary secrets and documents work as the manual describes'
