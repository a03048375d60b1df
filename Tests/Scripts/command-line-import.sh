#!/usr/bin/env bash
# Chrome's password export: unusual fields, damaged lines, existing items; then 10,000 rows.
set -u
. Tests/Scripts/lib/command-line.sh
[ -x /usr/bin/awk ] || command -v awk >/dev/null || { echo 'there is no awk here'; exit 77; }

# Every kind of field that the generator knows, with a byte order mark and CRLF.
for form in '' --bom --crlf '--bom --crlf'; do
    new_keychain
    # shellcheck disable=SC2086
    scripts/make-csv 24 $form >"$TMPDIR/p.csv"
    expect_status 0 vauban import "$TMPDIR/p.csv"
    expect_text '24 added, 0 already exist, 0 not imported' "$TMPDIR/err"
    check() { vauban get --server "site-$1.example" >"$TMPDIR/got" || fail "row $1 is not found"; printf "$2" | cmp - "$TMPDIR/got" || fail "row $1 has another password ($form)"; }
    check 1 'pw-1-7919,with,commas'
    check 2 '"pw-2-15838" "quoted"'
    check 3 'pw-3-23757\nsecond line\r\nthird line'
    check 4 '  pw-4-31676  '
    check 5 '\314\201pw-5-39595\303\251\342\202\254\360\237\224\221'
    check 10 '\\pw-10-79190'"'"'$(x)`;|'
    [ "$(vauban get "site-6.example/Åsa Öberg 6")" = pw-6-47514 ] || fail 'an account with characters beyond ASCII is not found'
    [ "$(vauban get --server site-7.example --protocol http --port 8080 --path /a%20b/c)" = pw-7-55433 ] || fail 'protocol, port and path were not stored'
    [ "$(vauban get --server site-8.example --account '')" = pw-8-63352 ] || fail 'a row without a user name is not found'
    [ "$(vauban list | wc -l)" = 24 ] || fail 'there are not 24 items'
    # The same file again: every item exists.
    expect_status 0 vauban import "$TMPDIR/p.csv"
    expect_text '0 added, 24 already exist' "$TMPDIR/err"
done
vauban list >"$TMPDIR/out"
grep -q 'pw-' "$TMPDIR/out" && fail 'list shows a password'

# Invalid lines are reported by number; the others are imported, and none in part.
new_keychain
printf '%s\n' 'password,note,url,username,name' \
    'secret-one,,https://one.example/,anna,One' \
    'secret-two,,,anna,no url' \
    'secret-three,,not a url,anna,bad url' \
    ',,https://four.example/,anna,no password' \
    'secret-five,https://five.example/,anna' \
    '"secret-six"x,,https://six.example/,anna,bad quote' \
    'secret-seven,,https://one.example/,anna,the same with another password' \
    '' \
    '"secret' \
    'nine",a note,https://nine.example/,anna,Nine' \
    'secret-one,,https://one.example/,anna,the same' \
    'secret"twelve,,https://twelve.example/,anna,a quote inside' \
    '"secret-thirteen,,https://thirteen.example/,anna,never closed' \
    'secret-last,,https://last.example/,anna,Last' >"$TMPDIR/broken.csv"
printf 'secret-\377,,https://latin.example/\377,anna,not UTF-8\n' >>"$TMPDIR/broken.csv"
printf 'secret-end,,https://end.example/,anna,without a line end' >>"$TMPDIR/broken.csv"
expect_status 1 vauban import "$TMPDIR/broken.csv"
for told in 'line 5: not imported: it has no password' \
    'line 6: not imported: it has 3 fields, not 5' 'line 7: not imported: text between' \
    'line 8: not imported: one.example/anna: it already exists with another password' 'line 13: not imported: its quotes do not match' \
    'line 14: not imported: a quote is never closed' 'line 16: not imported: its password is not UTF-8; save the file as UTF-8' '6 added, 1 already exist, 7 not imported'; do
    expect_text "$told" "$TMPDIR/err"
done
grep -q 'secret' "$TMPDIR/err" "$TMPDIR/out" && fail 'a message shows a password'
# Passwords without an address, or with one that names no server, are imported too.
[ "$(vauban get 'no url/anna')" = secret-two ] || fail 'a line without an address was lost'
[ "$(vauban get 'bad url/anna')" = secret-three ] || fail 'a line with an invalid address was lost'
[ "$(vauban get --server nine.example)" = "$(printf 'secret\nnine')" ] || fail 'a line after a blank one was imported wrongly'
[ "$(vauban get --server one.example)" = secret-one ] || fail 'an existing password was changed'
[ "$(vauban get --server last.example)" = secret-last ] || fail 'an unclosed quote swallowed the next line'
[ "$(vauban get --server end.example)" = secret-end ] || fail 'a last line without a newline was lost'

# An existing item with the same secret stays as it is, and every other difference is reported.
new_keychain
printf '[{"service":"s","account":"a","secret":"x","description":"one","comment":"a note","readable":"always"}]' >"$TMPDIR/items.json"
expect_status 0 vauban import "$TMPDIR/items.json"
expect_status 0 vauban import "$TMPDIR/items.json"
sed 's/"one"/"another"/; s/"always"/"unlocked"/' "$TMPDIR/items.json" >"$TMPDIR/others.json"
expect_status 1 vauban import "$TMPDIR/others.json"
expect_text 'left: description: the existing item has another one' "$TMPDIR/out"
expect_text 'left: protection: the existing item has another one' "$TMPDIR/out"
grep -q 'left: notes' "$TMPDIR/out" && fail 'equal notes are reported as different ones'
new_keychain

# Files that are not exports.
expect_status 64 vauban import - < <(printf 'a,b\n1,2\n')
expect_text 'must name the columns' "$TMPDIR/err"
expect_status 64 vauban import /dev/null
expect_status 64 vauban import "$TMPDIR/none.csv"
expect_status 64 vauban import - < <(head -c 100000 /dev/urandom)

# A locked keychain refuses the import before the first line.
set_passcode
vauban lock 2>/dev/null
expect_status 36 setsid --wait "$VAUBAN_BUILD/vauban" import "$TMPDIR/p.csv"
unlock

# 10,000 rows: all are counted, and each hundredth is read.
new_keychain
scripts/make-csv 10000 --bom >"$TMPDIR/large.csv"
expect_status 0 vauban import "$TMPDIR/large.csv"
expect_text '10000 added, 0 already exist, 0 not imported' "$TMPDIR/err"
[ "$(vauban list | wc -l)" = 10000 ] || fail 'there are not 10,000 items'
for row in $(seq 12 120 10000) 10000; do
    vauban get --server "site-$row.example" >"$TMPDIR/got" || fail "row $row is not found"
    grep -qF -- "pw-$row-" "$TMPDIR/got" || fail "row $row has another password"
done
expect_status 0 vauban import "$TMPDIR/large.csv"
expect_text '0 added, 10000 already exist' "$TMPDIR/err"
# A file without records says so, and on a terminal a record that was not imported is shown once.
printf 'name,url,username,password,note\n' >"$TMPDIR/header.csv"
expect_status 0 vauban import "$TMPDIR/header.csv"
expect_text 'Nothing was imported' "$TMPDIR/err"; grep -q 'all passwords' "$TMPDIR/err" && fail 'a file without records is called one of passwords'
printf 'Web,https://short.example/,anna\n' | cat "$TMPDIR/header.csv" - >"$TMPDIR/short.csv"
play "$VAUBAN_BUILD/vauban" import "$TMPDIR/short.csv" </dev/null >"$TMPDIR/out"; [ $? = 1 ] || fail 'a record that was not imported has another status'
[ "$(grep -c 'line 2: not imported' "$TMPDIR/out")" = 1 ] || { cat "$TMPDIR/out"; fail 'the record is not shown once'; }
# On a terminal it shows its progress.
new_keychain
scripts/make-csv 250 >"$TMPDIR/p.csv"
play "$VAUBAN_BUILD/vauban" import "$TMPDIR/p.csv" >"$TMPDIR/out" <<'STEPS' || fail 'import on a terminal failed'
expect Importing: 100 of 250
expect Importing: 200 of 250
expect 250 added
STEPS
echo 'the export is imported, and its invalid lines are reported'
