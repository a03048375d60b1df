#!/usr/bin/env bash
# The test suite of Python's secretstorage against Vauban's Secret Service. Debian's package and PyPI's wheels come without it: scripts/prerequisites
# fetches its source from PyPI. With SECRETSTORAGE_TESTS=FOLDER it is that folder `tests` of a source; an installed package that has it is used too.
# limit: 600
set -u
. Tests/Scripts/lib/command-line.sh
. Tests/Scripts/lib/secret-service.sh
suite=${SECRETSTORAGE_TESTS:-}
installed=$(/usr/bin/python3 -c 'import os, secretstorage; print(os.path.dirname(secretstorage.__file__))')
for folder in "$installed/tests" "${installed%/*}/tests/secretstorage" /usr/share/doc/python3-secretstorage/tests /usr/share/python3-secretstorage/tests; do
    [ -n "$suite" ] || { [ -f "$folder/test_item.py" ] && suite=$folder; }
done
for source in .build/sources/SecretStorage-*.tar.gz; do
    [ -n "$suite" ] || [ ! -e "$source" ] || { tar -xzf "$source" -C "$TMPDIR" && suite=$TMPDIR/$(basename "$source" .tar.gz)/tests; }
done
[ -n "$suite" ] || { echo "there are no tests of secretstorage here: not in $installed, nor in .build/sources, into which scripts/prerequisites test fetches them from PyPI"
    exit 77; }
[ -f "$suite/test_item.py" ] || fail "there are no tests of secretstorage in $suite"
cp -r "$suite" "$TMPDIR/suite" || fail 'the tests cannot be read'
vauban enable secret-service --no-import 2>"$TMPDIR/err" || { cat "$TMPDIR/err"; fail 'the Secret Service was not enabled'; }
start_bus
vauban status >/dev/null 2>&1 || fail 'the rooms do not start'

# With the version that the tests belong to, if it is beside them; otherwise with the installed one.
[ ! -f "${suite%/*}/secretstorage/__init__.py" ] || export PYTHONPATH=${suite%/*}
runs() { (cd "$TMPDIR" && timeout 240 /usr/bin/python3 -m unittest discover -v -s suite -t .) >"$TMPDIR/suite.out" 2>&1; }
# Without a passcode, with one, and with only the remains of the first run.
runs || { cat "$TMPDIR/suite.out"; fail 'a test of secretstorage fails'; }
set_passcode
runs || { cat "$TMPDIR/suite.out"; fail 'a test of secretstorage fails with a passcode'; }
[ -n "$(service_process)" ] || fail 'the service ended'
grep -E '^Ran |^OK|skipped' "$TMPDIR/suite.out"
grep -q '^Ran 0 ' "$TMPDIR/suite.out" && fail 'no test ran'
echo "the tests of secretstorage pass"
