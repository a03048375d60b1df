#!/usr/bin/env bash
# Export as CSV: after the passcode, with a warning, with mode 0600, and never over an existing file. An import restores the same items, with
# bytes, notes, codes, protection and spreadsheet formulas. Other programs find their columns.
set -u
. Tests/Scripts/lib/command-line.sh
command -v python3 >/dev/null || { echo 'there is no python3 here'; exit 77; }
described() { vauban list --json | python3 -c 'import json, sys
items = json.load(sys.stdin)
for item in items:
    item.pop("created"); item.pop("changed")
print("\n".join(sorted(json.dumps(item, sort_keys=True) for item in items)))'; }
out() { want=$1; shift; expect_status "$want" setsid --wait "$VAUBAN_BUILD/vauban" export --csv "$@" --passcode-fd 3 3<<<"$passcode" </dev/null; }

expect_status 0 vauban import Vectors/import/apple.csv
expect_status 1 vauban import Vectors/import/bitwarden.json
printf 'a\0b\377\n' | vauban add bytes/x --keep-newline 2>/dev/null
printf '=HYPERLINK("http://evil.example")' | vauban add formula/=cmd
printf ' spaces, "quotes"\r\nlines\n' | vauban add --service 'a,b "c"' --account $'two\nlines' --keep-newline || fail 'add failed'
printf here | vauban add here/x --this-device
printf late | vauban add late/x --when after-first-unlock
printf '{"service":"rich","account":"r","secret":"s","comment":"=1+1","generic":{"base64":"AP8="},"creator":1635017060,"isInvisible":true,"description":"d","alias":"al"}' |
    vauban add --json - 2>/dev/null || fail 'add --json failed'
printf 'base64 it is not' | vauban add 'YWJj/base64'
printf '' | vauban add empty/x --empty || fail 'add failed'
set_passcode
printf 'of the bank' | vauban add bank/x --require presence || fail 'add failed'
described >"$TMPDIR/before"
items=$(wc -l <"$TMPDIR/before")

# The passcode is requested as for the encrypted export.
expect_status 36 setsid --wait "$VAUBAN_BUILD/vauban" export --csv "$TMPDIR/none" </dev/null
expect_status 51 setsid --wait "$VAUBAN_BUILD/vauban" export --csv "$TMPDIR/none" --passcode-fd 3 3<<<'not it' </dev/null
[ ! -e "$TMPDIR/none" ] || fail 'an export that failed left a file'
expect_status 64 vauban export --csv --plain "$TMPDIR/none"
out 0 "$TMPDIR/out.csv" --this-device
expect_text "$items items exported." "$TMPDIR/err"
expect_text 'Warning: This file is not encrypted' "$TMPDIR/err"
expect_text 'treats a cell that begins with' "$TMPDIR/err"
[ "$(stat -c %a "$TMPDIR/out.csv")" = 600 ] || fail 'others can read the file'
out 64 "$TMPDIR/out.csv"
out 0 "$TMPDIR/without.csv"
expect_text '1 item left out (this device only)' "$TMPDIR/err"

# Another program reads the columns that all such programs use, with codes beside their login.
python3 - "$TMPDIR/out.csv" <<'PYTHON' || fail 'another program reads other values'
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1], newline="", encoding="utf-8")))
byname = {(row["name"], row["username"]): row for row in rows}
apple = byname[("Example (anna)", "anna")]
assert apple["password"] == "apple-one" and apple["note"] == "first, line\nsecond line\n\nimported from: apple.csv", apple
assert apple["otpauth"].startswith("otpauth://totp/Example:anna"), apple
assert apple["url"] == "https://example.com/", apple
assert not any(row["service"] == "otpauth:example.com" and row["class"] == "generic password" and row["name"] == "Example (anna)" for row in rows)
assert byname[("formula/=cmd", "=cmd")]["password"] == '=HYPERLINK("http://evil.example")'
assert {row["vauban"] for row in rows} == {"1"}
PYTHON

# Imported into a new keychain: attributes and bytes are the same.
for name in bytes/x late/x here/x 'YWJj/base64' rich/r Card 'Secret plan' fields:example.com/anna otpauth:example.com/anna; do
    printf '%s ' "$name"; vauban get "$name" | sha256sum
done >"$TMPDIR/secrets"
new_keychain; set_passcode
expect_status 0 vauban import --dry-run "$TMPDIR/out.csv"
expect_status 0 vauban import "$TMPDIR/out.csv"
expect_text "$items added, 0 already exist, 0 not imported" "$TMPDIR/err"
described | diff "$TMPDIR/before" - || fail 'the imported items differ from the exported ones'
for name in bytes/x late/x here/x 'YWJj/base64' rich/r Card 'Secret plan' fields:example.com/anna otpauth:example.com/anna; do
    printf '%s ' "$name"; vauban get "$name" | sha256sum
done | diff "$TMPDIR/secrets" - || fail 'a secret was imported as another one'
[ "$(vauban get formula/=cmd)" = '=HYPERLINK("http://evil.example")' ] || fail 'a spreadsheet formula was imported as another secret'
[ "$(vauban list bank/x)" = "bank/x	unlocked	prompts" ] || fail 'an item that required approval no longer does'
[ "$(vauban get bank/x --passcode-fd 3 3<<<"$passcode")" = 'of the bank' ] || fail 'the secret of an item that requires approval differs'
# Exported again: the same bytes.
out 0 "$TMPDIR/again.csv" --this-device
cmp "$TMPDIR/out.csv" "$TMPDIR/again.csv" || fail 'the second file differs'

# A file with a column that a later version may write is refused; a file without the column is read as that of another program.
sed '1s/base64/other/' "$TMPDIR/out.csv" >"$TMPDIR/later.csv"
expect_status 64 vauban import "$TMPDIR/later.csv"
expect_text 'a newer version of vauban may know it' "$TMPDIR/err"
python3 - "$TMPDIR/out.csv" "$TMPDIR/plain.csv" <<'PYTHON'
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1], newline="", encoding="utf-8")))
with open(sys.argv[2], "w", newline="", encoding="utf-8") as file:
    writer = csv.DictWriter(file, ["name", "url", "username", "password", "note", "otpauth"], extrasaction="ignore")
    writer.writeheader()
    writer.writerows(row for row in rows if row["name"].startswith("Example (anna)"))
PYTHON
new_keychain
expect_status 0 vauban import "$TMPDIR/plain.csv"
[ "$(vauban get example.com/anna)" = apple-one ] || fail 'the file without that column is not read as that of another program'
echo 'an export as CSV is imported unchanged'
