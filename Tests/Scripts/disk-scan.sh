#!/usr/bin/env bash
# Imports an export and then looks at every file of the keychain, the write-ahead log and freed pages included, for any password,
# account, server, label or note: as UTF-8, UTF-16, hexadecimal, base64 or percent form, and for plain MD5, SHA-1 and SHA-256 of them.
# proves: C-002 C-043
set -u
. Tests/Scripts/lib/command-line.sh
for tool in od iconv base64 md5sum sha1sum sha256sum awk; do command -v "$tool" >/dev/null || { echo "there is no $tool here"; exit 77; }; done

hex() { od -An -v -tx1 | tr -d ' \n'; }

# The pattern forms of one value, each as the hexadecimal of its bytes, one a line.
forms() {
    value=$1
    plain=$(printf %s "$value" | hex)
    echo "$plain"
    for encoding in UTF-16LE UTF-16BE; do printf %s "$value" | iconv -f UTF-8 -t "$encoding" | hex; echo; done
    printf %s "$plain" | hex; echo
    printf %s "$plain" | tr a-f A-F | hex; echo
    # Base64 at each of the three offsets, without the ends that depend on the neighbours.
    for before in '' x xx; do
        printf %s "$before$value" | base64 -w 0 | sed 's/=*$//; s/^....//; s/..$//' | hex; echo
    done
    for upper in '' 1; do
        printf %s "$value" | od -An -v -tx1 | tr ' ' '\n' | awk -v upper="$upper" '
            $1 == "" { next }
            { byte = $1; c = ""; for (i = 32; i < 127; i++) if (sprintf("%02x", i) == byte) c = sprintf("%c", i)
              printf "%s", (c ~ /[A-Za-z0-9._~-]/) ? c : "%" (upper ? toupper(byte) : byte) }' | hex
        echo
    done
    for sum in md5sum sha1sum sha256sum; do
        digest=$(printf %s "$value" | "$sum" | cut -d ' ' -f 1)
        echo "$digest"
        printf %s "$digest" | hex; echo
    done
}

# All files of the keychain as one line of hexadecimal each.
dump() { find "$VAUBAN_HOME" -type f ! -name lock ! -name service ! -name vauban.log -print0 | while IFS= read -r -d '' file; do hex <"$file"; echo; done; }

scripts/make-csv 24 >"$TMPDIR/p.csv"
{
    for row in $(seq 1 24); do
        printf '%s\n' "site-$row.example" "user$row@mail.example" "pw-$row-$((row * 7919 % 1000003))"
    done
    printf '%s\n' 'Åsa Öberg 6' 'second line' 'of two lines' 'a long note 000000' 'a%20b/c' 'moved-account' 'the old secret' 'the new secret' 'moved-service'
} >"$TMPDIR/values"
while IFS= read -r value; do forms "$value"; done <"$TMPDIR/values" | awk 'length($0) >= 12' | sort -u >"$TMPDIR/patterns"

# The scan must find existing text: on a copy of the export in each form it finds something.
hex <"$TMPDIR/p.csv" | grep -qF -f "$TMPDIR/patterns" || fail 'the scan does not see plain text'
iconv -f UTF-8 -t UTF-16LE "$TMPDIR/p.csv" | hex | grep -qF -f "$TMPDIR/patterns" || fail 'the scan does not see UTF-16'
base64 -w 0 "$TMPDIR/p.csv" | hex | grep -qF -f "$TMPDIR/patterns" || fail 'the scan does not see base64'
printf %s 'site-3.example' | sha256sum | cut -c 1-64 | grep -qF -f "$TMPDIR/patterns" || fail 'the scan does not see a digest'

set_passcode
expect_status 0 vauban import "$TMPDIR/p.csv"
# Changed and deleted items leave pages behind, which must not reveal anything either.
printf 'the old secret' | vauban set moved-service/moved-account || fail 'set failed'
printf 'the new secret' | vauban set moved-service/moved-account --require presence --replace || fail 'set failed'
vauban delete --server site-3.example || fail 'delete failed'
dump >"$TMPDIR/dump"
[ "$(wc -c <"$TMPDIR/dump")" -gt 50000 ] || fail 'there is not enough to look at'
if grep -oF -f "$TMPDIR/patterns" "$TMPDIR/dump" | sort | uniq -c | head -5 | grep .; then fail 'a value was found on the disk while the keychain runs'; fi
vauban lock 2>/dev/null && vauban stop 2>/dev/null
dump >"$TMPDIR/dump"
if grep -oF -f "$TMPDIR/patterns" "$TMPDIR/dump" | sort | uniq -c | head -5 | grep .; then fail 'a value was found on the disk after the keychain was stopped'; fi
grep -qF -f "$TMPDIR/values" "$VAUBAN_HOME/vauban.log" && fail 'a value was found in the log'
echo "the files of the keychain tell nothing of $(wc -l <"$TMPDIR/values") values in $(wc -l <"$TMPDIR/patterns") forms"
