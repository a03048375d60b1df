#!/usr/bin/env bash
# Tests the acceptance report itself in every run: tests and scripts that fail, stop halfway or never run must be reported as open.
set -u

fail() { echo "$*"; exit 1; }
# Results in the order of the scripts.
export VAUBAN_SCRIPT_LANES=1

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

# 2. A claim for a row that is not in the table must be reported.
"$VAUBAN_BUILD/acceptance" report --rows K-001...K-009 --events "$TMPDIR/1.jsonl" --claims "$TMPDIR/1.tsv" >/dev/null 2>&1 &&
    fail 'a claim outside the table was accepted'

# 3. A test process that exits early with status 0: the runner reports success, and the count must not.
canary exit AcceptanceCanaryExit
"$VAUBAN_BUILD/acceptance" report --rows K-001...K-002 --events "$TMPDIR/exit.jsonl" --claims "$TMPDIR/exit.tsv" >"$TMPDIR/table"
[ "$(tail -n 1 "$TMPDIR/table")" = '0 of 2 proven' ] || { cat "$TMPDIR/table"; fail 'an unfinished test proved something'; }
"$VAUBAN_BUILD/acceptance" count --events "$TMPDIR/exit.jsonl" >"$TMPDIR/count" && fail 'an unfinished run was counted as a success'
[ "$(tail -n 1 "$TMPDIR/count")" = '0 passed, 2 failed' ] || { cat "$TMPDIR/count"; fail 'the count of an unfinished run is wrong'; }

# 4. Attacks: one that was not tried is reported as open and not counted as passed, whether the script could not try it, could not run at all, or
# ended before; one with a failed check is failed; no attack is reported twice.
mkdir "$TMPDIR/hostile"
hostile() { printf '#!/bin/sh\ncheck() { :; }\n%s\n' "$2" >"$TMPDIR/hostile/$1"; chmod +x "$TMPDIR/hostile/$1"; }
hostile attacks-some.sh "check 'A01 x'; echo 'ok: A01 refused'
check 'A02 x'; echo 'ok: A02 the first way'; echo 'open: A02: no tool for the second way'
check 'A03 x'; echo 'ok: A03 the first way'; echo 'FAILED: A03 the second way'
check 'A04 x'; exit 1"
hostile part.sh "echo 'open: dumps: no such tool'; echo 'all else is well'"
hostile attacks-none.sh "echo 'no namespaces here'; exit 77; check 'U01 x'"
hostile attacks-done.sh "check 'A05 x'; echo 'ok: A05 refused'; echo 'open: A06: no such kernel'; check \"A06 x\"; check 'A08 x'; echo 'ok: A08 refused'"
scripts/run-script-tests --folder "$TMPDIR/hostile" --results "$TMPDIR/hostile.tsv" --attacks "$TMPDIR/attacks.tsv" >"$TMPDIR/hostile.log"
grep -q '^open *A06: no such kernel$' "$TMPDIR/hostile.log" || { cat "$TMPDIR/hostile.log"; fail 'the run does not name an attack that was not tried'; }
printf '| A0%s | an attack |\n' 1 2 3 4 5 6 7 >"$TMPDIR/page"; echo '| U01 | an attack |' >>"$TMPDIR/page"
"$VAUBAN_BUILD/acceptance" attacks --manual "$TMPDIR/page" --attacks "$TMPDIR/attacks.tsv" >"$TMPDIR/table" &&
    fail 'the report of the attacks succeeded, although some failed'
cat >"$TMPDIR/expected" <<'TABLE'
A02 open: not tried: no tool for the second way (attacks-some.sh)
A03 failed: FAILED: A03 the second way (attacks-some.sh)
A04 failed: the script said nothing of it (attacks-some.sh)
A06 open: not tried: no such kernel (attacks-done.sh)
A07 failed: no script says what became of it
U01 open: not tried: could not run here: no namespaces here (attacks-none.sh)
A08 failed: it is tried, and not on the page
2 of 8 attacks tried, with the outcome that the page says
TABLE
diff "$TMPDIR/expected" "$TMPDIR/table" || fail 'the table of the attacks is not what it must be'
# Open rows alone do not fail the run, and are listed by name.
grep -v 'failed\|A08' "$TMPDIR/attacks.tsv" >"$TMPDIR/open.tsv"
printf '| %s | an attack |\n' A01 A02 A05 A06 U01 >"$TMPDIR/page"
"$VAUBAN_BUILD/acceptance" attacks --manual "$TMPDIR/page" --attacks "$TMPDIR/open.tsv" >"$TMPDIR/table" || fail 'an attack that was not tried failed the run'
[ "$(tail -n 1 "$TMPDIR/table")" = '2 of 5 attacks tried, with the outcome that the page says' ] || { cat "$TMPDIR/table"; fail 'the count of attacks is wrong'; }
grep -v 'failed' "$TMPDIR/hostile.tsv" >"$TMPDIR/passed.tsv"
"$VAUBAN_BUILD/acceptance" count --scripts "$TMPDIR/passed.tsv" --attacks "$TMPDIR/open.tsv" >"$TMPDIR/count" || fail 'what is open failed the count'
cat >"$TMPDIR/expected" <<'COUNT'
open: attacks-none.sh: could not run here: no namespaces here
open: part.sh: dumps: no such tool
open: attack A06 was not tried: no such kernel
open: attack U01 was not tried: could not run here: no namespaces here
open: attack A02 was not tried: no tool for the second way
5 could not run here
2 passed, 0 failed
COUNT
diff "$TMPDIR/expected" "$TMPDIR/count" || fail 'the count does not name the attacks that were not tried'
echo 'failures are detected'
