#!/usr/bin/env bash
# Proves the acceptance machinery on every run: tests and scripts that fail, stop half-way or never run must come out as open.
set -u

fail() { echo "$*"; exit 1; }

canary() { # MODE SUITE: runs the suite; the event stream and the claims go to files named after the mode
    VAUBAN_ACCEPTANCE_CANARY=$1 VAUBAN_ACCEPTANCE_CLAIMS=$TMPDIR/$1.tsv swift test -c release --skip-build --disable-xctest \
        --filter "WallsTests.$2/" --event-stream-version 0 --event-stream-output-path "$TMPDIR/$1.jsonl" >"$TMPDIR/$1.log" 2>&1
}

# 1. Tests that fail, and scripts that fail.
canary 1 AcceptanceCanary && fail 'the canary passed, although it has failing tests'

mkdir "$TMPDIR/scripts"
script() { # NAME STATUS HEADER...
    printf '#!/bin/sh\n' >"$TMPDIR/scripts/$1"
    printf '# %s\n' "${@:3}" >>"$TMPDIR/scripts/$1"
    printf '\n# proves: K-001\necho a reason\nexit %s\n' "$2" >>"$TMPDIR/scripts/$1"
    chmod +x "$TMPDIR/scripts/$1"
}
script passing.sh 0 'proves: K-011 K-012' 'proves-equivalent: K-013'
script failing.sh 1 'proves: K-012, K-014'
script impossible.sh 77 'proves: K-015'
script unmarked.sh 0 'proves: K-016'
chmod -x "$TMPDIR/scripts/unmarked.sh"
scripts/run-script-tests --folder "$TMPDIR/scripts" --results "$TMPDIR/scripts.tsv" >/dev/null &&
    fail 'the script runner succeeded, although a script failed'

"$VAUBAN_BUILD/acceptance" report --rows K-001...K-017 --events "$TMPDIR/1.jsonl" --claims "$TMPDIR/1.tsv" \
    --scripts "$TMPDIR/scripts.tsv" >"$TMPDIR/table" || fail 'no table'
cat >"$TMPDIR/expected" <<'TABLE'
K-001 proven WallsTests.AcceptanceCanary/passes()
K-002 open (WallsTests.AcceptanceCanary/fails() failed)
K-003 open (WallsTests.AcceptanceCanary/fails() failed)
K-004 proven (equivalent) WallsTests.AcceptanceCanary/passesBesideAFailure()
K-005 open (WallsTests.AcceptanceCanary/throwsAnError() failed)
K-006 open (WallsTests.AcceptanceCanary/isDisabled(): skipped)
K-007 open (WallsTests.AcceptanceCanary/hasNoArguments(_:): skipped)
K-008 open (WallsTests.AcceptanceCanary/hasAKnownIssue(): known issue)
K-009 open (WallsTests.AcceptanceCanary/isCancelled(): cancelled)
K-010 open (WallsTests.AcceptanceCanary/failsForOneArgument(_:) failed)
K-011 proven passing.sh
K-012 open (failing.sh failed)
K-013 proven (equivalent) passing.sh
K-014 open (failing.sh failed)
K-015 open (impossible.sh: could not run here: a reason)
K-016 open (unmarked.sh failed)
K-017 open
4 of 17 proven
TABLE
diff "$TMPDIR/expected" "$TMPDIR/table" || fail 'the table is not what the canary must give'

"$VAUBAN_BUILD/acceptance" count --events "$TMPDIR/1.jsonl" --scripts "$TMPDIR/scripts.tsv" >"$TMPDIR/count" &&
    fail 'the count succeeded, although tests failed'
[ "$(tail -n 1 "$TMPDIR/count")" = '3 passed, 5 failed' ] || { cat "$TMPDIR/count"; fail 'the count is wrong'; }

# 2. A claim for a row that is not in the table must not pass in silence.
"$VAUBAN_BUILD/acceptance" report --rows K-001...K-009 --events "$TMPDIR/1.jsonl" --claims "$TMPDIR/1.tsv" >/dev/null 2>&1 &&
    fail 'a claim outside the table was accepted'

# 3. A test process that leaves early with status 0: the runner calls that a success, the count must not.
canary exit AcceptanceCanaryExit
"$VAUBAN_BUILD/acceptance" report --rows K-001...K-002 --events "$TMPDIR/exit.jsonl" --claims "$TMPDIR/exit.tsv" >"$TMPDIR/table"
[ "$(tail -n 1 "$TMPDIR/table")" = '0 of 2 proven' ] || { cat "$TMPDIR/table"; fail 'an unfinished test proved something'; }
"$VAUBAN_BUILD/acceptance" count --events "$TMPDIR/exit.jsonl" >"$TMPDIR/count" && fail 'an unfinished run was counted as a success'
[ "$(tail -n 1 "$TMPDIR/count")" = '0 passed, 2 failed' ] || { cat "$TMPDIR/count"; fail 'the count of an unfinished run is wrong'; }
echo 'the machinery sees what fails'
