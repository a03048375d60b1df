#!/usr/bin/env bash
# vauban ephemeral: a new, empty keychain for one command, removed when the command ends in any way.
set -u
. Tests/Scripts/lib/command-line.sh
[ -x "$VAUBAN_BUILD/vauban-launcher" ] && [ -x "$VAUBAN_BUILD/enclaved" ] && [ -x "$VAUBAN_BUILD/keychaind" ] || { echo 'the programs are not built'; exit 77; }
printf real | vauban add real/anna 2>/dev/null || fail 'add failed'
program=$VAUBAN_BUILD/vauban
remains() { ls -d "$TMPDIR"/vauban-ephemeral-* 2>/dev/null; }
# ended: its folder was removed, and none of its rooms runs.
ended() { [ -z "$(remains)" ] || fail "the ephemeral keychain left $(remains)"; awaited 'the end of its rooms' without_rooms; }
without_rooms() { ! pgrep -f "$TMPDIR/vauban-ephemeral" >/dev/null; }

# The command has an empty keychain, in which it stores and finds items; the user's own keychain is not changed.
expect_status 7 vauban ephemeral -- sh -c \
    '"$0" list 2>&1 | grep -q "No items yet" && printf trial | "$0" set trial/anna 2>/dev/null && [ "$("$0" get trial/anna)" = trial ] && "$0" get real/anna 2>/dev/null; [ $? = 44 ] && exit 7' "$program"
expect_text 'Temporary keychain in' "$TMPDIR/err"
expect_text 'is removed' "$TMPDIR/err"
ended
expect_status 44 vauban get trial/anna
[ "$(vauban get real/anna)" = real ] || fail 'the real keychain was changed'
# The same if the environment already names a keychain; then the exit statuses.
expect_status 0 vauban ephemeral -- sh -c '[ "$VAUBAN_HOME" != "$1" ] && [ "$(stat -c %a "${VAUBAN_HOME%/*}")" = 700 ]' sh "$VAUBAN_HOME"
expect_status 127 vauban ephemeral -- /no/such/command
expect_status 143 vauban ephemeral -- sh -c 'kill -TERM $$'
expect_status 64 vauban ephemeral
expect_status 64 vauban ephemeral --user maybe -- true
ended

# A simulated user who approves, and one who declines.
expect_status 0 vauban ephemeral --user yes -- sh -c 'printf s | "$0" set bank/anna --require presence && [ "$(setsid --wait "$0" get bank/anna </dev/null)" = s ]' "$program"
expect_status 128 vauban ephemeral --user no -- sh -c 'printf s | "$0" set bank/anna --require presence && setsid --wait "$0" get bank/anna </dev/null' "$program"
ended

# Signals are passed on to the command, and the keychain is removed when the command has ended.
mkfifo "$TMPDIR/ready" "$TMPDIR/gone"
for signal in TERM HUP; do
    setsid "$program" ephemeral -- bash -c 'trap "exit 9" '$signal'; printf x | "$0" set a/b 2>/dev/null; echo ready >"$1"; while :; do read -t 1 <>"$2" || true; done' \
        "$program" "$TMPDIR/ready" "$TMPDIR/gone" 2>"$TMPDIR/err" &
    running=$!
    read -r -t "$hang_seconds" _ <>"$TMPDIR/ready" || fail 'the command did not begin'
    kill -$signal $running
    wait $running; status=$?
    [ $status = 9 ] || fail "after $signal it ended with $status"
    ended
done

# If vauban is killed, the keychain is removed as well: its guardian notices that the process has ended.
setsid "$program" ephemeral -- bash -c 'printf x | "$0" set a/b 2>/dev/null; echo ready >"$1"; read -r _ <"$2"' "$program" "$TMPDIR/ready" "$TMPDIR/gone" 2>/dev/null &
running=$!
read -r -t "$hang_seconds" _ <>"$TMPDIR/ready" || fail 'the command did not begin'
folder=$(remains); [ -d "$folder/keychain" ] || fail 'the folder of the ephemeral keychain was not found'
kill -9 $running; wait $running 2>/dev/null
is_removed() { [ -z "$(remains)" ]; }
eventually is_removed
echo done >"$TMPDIR/gone"
ended

# On a terminal, Ctrl-C goes to the command.
play "$program" ephemeral -- bash -c 'trap "echo caught; exit 9" INT; echo waiting; while :; do read -r -t 1 _ || true; done' >"$TMPDIR/out" <<'STEPS'
expect waiting
key ctrl-c
expect caught
STEPS
status=$?; [ $status = 9 ] || { cat "$TMPDIR/out"; fail "after Ctrl-C it ended with $status"; }
expect_text 'is removed' "$TMPDIR/out"
ended
# The same if Ctrl-C ends the command before vauban is scheduled: vauban is stopped, and continues only when the command is a
# zombie. Whichever of its threads runs first then, vauban ends with the status of the command.
cat >"$TMPDIR/overtakes" <<'COMMAND'
trap '{ until grep -q "^State:.Z" /proc/$$/status; do :; done; kill -CONT $PPID; } >/dev/null 2>&1 & echo caught; exit 9' INT
kill -STOP $PPID
until grep -q '^State:.T' /proc/$PPID/status; do :; done
echo waiting
while :; do read -r -t 1 _ || true; done
COMMAND
for _ in $(seq 10); do
    play "$program" ephemeral -- bash "$TMPDIR/overtakes" >"$TMPDIR/out" <<'STEPS'
expect waiting
key ctrl-c
expect caught
STEPS
    status=$?; [ $status = 9 ] || { cat "$TMPDIR/out"; fail "after Ctrl-C had ended the command first, vauban ended with $status"; }
    ended
done
echo 'an ephemeral keychain is its command'"'"'s alone, and gone with it'
