#!/usr/bin/env bash
# Reads the vectors of Vectors/ with a second implementation in Python, and those of exports and backups with vauban itself: complete files are
# imported, and nothing of files with a failure.
set -u
. Tests/Scripts/lib/command-line.sh
/usr/bin/python3 -c 'import cryptography' 2>/dev/null || { echo 'there is no python3-cryptography here'; exit 77; }
/usr/bin/python3 -B Vectors/check.py || fail 'a vector differs from its description'
/usr/bin/python3 -B Specs/key-hierarchy-vectors.py | cmp - Vectors/key-hierarchy.json || fail 'the key hierarchy has other vectors than its maker writes'

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

# Backups of every version that was ever written: the items that may leave their device are restored, one of them is compared.
export VAUBAN_HOME=$TMPDIR/backups.keychain
mkdir "$TMPDIR/backups"
/usr/bin/python3 -B - "$TMPDIR/backups" <<'PYTHON' || fail 'the backups were not written'
import glob, json, os, sys
for number, vector in enumerate(vector for path in sorted(glob.glob('Vectors/backup/*.json')) for vector in json.load(open(path))['vectors']):
    place = f'{sys.argv[1]}/{number:02}'
    if 'files' in vector:
        os.makedirs(place + '/segments')
        for name, data in vector['files'].items():
            open(f'{place}/{name}', 'wb').write(bytes.fromhex(data))
    else:
        open(place, 'wb').write(bytes.fromhex(vector['bytes']))
    open(place + '.passphrase', 'w').write(vector['passphrase'])
    if 'contains' in vector:
        open(place + '.contains', 'w').write('\n'.join(vector['contains'][key] for key in ('name', 'value', 'created')) + '\n')
    if 'restoreKey' in vector:
        open(place + '.key', 'w').write(vector['restoreKey'])
    open(place + '.expected', 'w').write('refused' if 'failure' in vector else str(vector['items']))
PYTHON
new_keychain
unrestored=0
for backup in "$TMPDIR"/backups/[0-9][0-9]; do
    expected=$(cat "$backup.expected")
    key=(); [ ! -e "$backup.key" ] || key=(--restore-key "$backup.key")
    vauban restore "$backup" "${key[@]}" --passphrase-fd 3 3<"$backup.passphrase" >"$TMPDIR/out" 2>"$TMPDIR/err"
    status=$?
    if [ "$expected" = refused ]; then
        unrestored=$((unrestored + 1))
        [ "$status" -gt 1 ] || { cat "$TMPDIR/err"; fail "backup ${backup##*/}: status $status, though it is to be refused"; }
    else
        [ "$(vauban list 2>/dev/null | wc -l)" = "$expected" ] || { cat "$TMPDIR/err"; fail "backup ${backup##*/}: not $expected items"; }
        mapfile -t contains <"$backup.contains"
        [ "$(vauban get "${contains[0]}")" = "${contains[1]}" ] || fail "backup ${backup##*/}: another value"
        vauban show "${contains[0]}" --json | grep -qF "\"created\" : \"${contains[2]}:" || fail "backup ${backup##*/}: another date"
        new_keychain
    fi
done
[ "$unrestored" -gt 40 ] || fail 'too few backups were refused'
echo "the vectors are read and refused as described, $refused exports and $unrestored backups refused"
