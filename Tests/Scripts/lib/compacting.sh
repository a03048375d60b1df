# For tests of compaction: sets $VAUBAN_BUILD to a folder with the tested programs, whose command line compacts after six files, states what
# it has read after three, and removes three files in a run. To be sourced before command-line.sh.
[ -x "$VAUBAN_BUILD/vauban-compaction-testing" ] || { echo 'vauban-compaction-testing is not built'; exit 77; }
built=$TMPDIR/built
mkdir "$built" && for program in rooms-testing authd vauban-witness vauban-watcher vauban-reader vauban-sync-etcd pty-play; do
    [ ! -x "$VAUBAN_BUILD/$program" ] || ln "$VAUBAN_BUILD/$program" "$built/" 2>/dev/null || cp "$VAUBAN_BUILD/$program" "$built/" || exit 77
done
cp "$VAUBAN_BUILD/vauban-compaction-testing" "$built/vauban" || exit 77
VAUBAN_BUILD=$built
export VAUBAN_TEST_COMPACTION='6 3 3'
# killed STEP [WHICH]: runs vauban sync, which is killed after this step.
killed() {
    # The shell reports the kill on standard error.
    { VAUBAN_TEST_KILL="$*" "$VAUBAN_BUILD/vauban" sync --no-input </dev/null >"$TMPDIR/out" 2>"$TMPDIR/err"; status=$?; } 2>/dev/null
    [ $status = 137 ] || { cat "$TMPDIR/out" "$TMPDIR/err"; fail "a run that was to be killed after \"$*\" ended with $status"; }
}
# changes NUMBER: changes s/first so many times, each in a separate run; $value is the last value.
changes() { for change in $(seq "$1"); do value="value $((++written))"; printf '%s' "$value" | vauban set s/first --replace 2>/dev/null; own 0 sync; done; }
written=0
