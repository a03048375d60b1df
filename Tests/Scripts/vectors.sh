#!/usr/bin/env bash
# Reads the vectors of Vectors/ with a second implementation in Python, and those of exports with vauban itself: complete files are
# imported, and nothing of files with a failure.
set -u
. Tests/Scripts/lib/command-line.sh
/usr/bin/python3 -c 'import cryptography' 2>/dev/null || { echo 'there is no python3-cryptography here'; exit 77; }
/usr/bin/python3 -B Vectors/check.py || fail 'a vector is not what it says'

mkdir "$TMPDIR/exports"
/usr/bin/python3 -B - "$TMPDIR/exports" <<'PYTHON' || fail 'the exports were not written'
import json, sys
for number, vector in enumerate(json.load(open('Vectors/export.json'))['vectors']):
    place = f'{sys.argv[1]}/{number:02}'
    open(place, 'wb').write(bytes.fromhex(vector['bytes']))
    open(place + '.passphrase', 'w').write(vector['passphrase'])
    open(place + '.expected', 'w').write('refused' if 'failure' in vector else str(vector['items']))
PYTHON
refused=0
for export in "$TMPDIR"/exports/[0-9][0-9]; do
    export VAUBAN_HOME=$export.keychain
    expected=$(cat "$export.expected")
    vauban import "$export" --passphrase-fd 3 3<"$export.passphrase" >"$TMPDIR/out" 2>"$TMPDIR/err"
    status=$?
    taken=$(vauban list 2>/dev/null | wc -l)
    if [ "$expected" = refused ]; then
        refused=$((refused + 1))
        [ "$status" != 0 ] && [ "$taken" = 0 ] || fail "export ${export##*/}: status $status, $taken items taken, though it is to be refused"
    else
        [ "$status" = 0 ] && [ "$taken" = "$expected" ] || { cat "$TMPDIR/err"; fail "export ${export##*/}: status $status, $taken items"; }
    fi
    vauban stop >/dev/null 2>&1
done
[ "$refused" -gt 10 ] || fail 'too few exports were refused'
echo "the vectors are read and refused as they say, $refused exports refused"
