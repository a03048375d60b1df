#!/usr/bin/env bash
# Faults around the Secret Service: rooms that are killed during look-ups, a service that is killed during a call, a bus that restarts, a name
# that another program owns, and requests of unusual sizes. The long run (make stress) has 20,000 look-ups, half of them by secret-tool.
# limit: 1200
set -u
. Tests/Scripts/lib/command-line.sh
. Tests/Scripts/lib/secret-service.sh
vauban enable secret-service 2>/dev/null || fail 'the Secret Service was not enabled'
start_bus
vauban status >/dev/null 2>&1 || fail 'the rooms do not start'
printf 'kept through faults' | secret-tool store --label=Fault service fault username anna || fail 'nothing is stored'
found() { [ "$(secret-tool lookup service fault username anna)" = 'kept through faults' ] || fail "nothing is found $1"; }
found 'at first'

# A room is killed during every few look-ups; each look-up still succeeds.
launcher=$(sed -n 's/^launcher \([0-9]*\) .*/\1/p' "$VAUBAN_HOME/lock")
[ -n "$launcher" ] || fail 'there is no launcher'
LOOKUPS=${LOOKUPS:-300}
timeout $((240 + 2 * LOOKUPS)) /usr/bin/python3 "$helper" lookups-while-killing "$launcher" "$LOOKUPS" ||
    fail 'look-ups fail while rooms are killed'
vauban doctor >"$TMPDIR/out" || { cat "$TMPDIR/out"; fail 'vauban doctor reports damage'; }

try unusual-sizes
found 'after requests of unusual sizes'

# The service is killed while calls wait for it: their callers are notified, and the next call starts it again.
for _ in 1 2 3 4 5; do
    killed=$(service_process)
    try killed-while-called "$killed"
    forgotten "$killed"
    found 'after the service was killed'
    [ "$(service_process)" != "$killed" ] || fail 'the killed service owns the name'
done

# The bus ends, and the service with it; on the next bus it is started again.
service=$(service_process)
kill -KILL "$bus_pid"; wait "$bus_pid" 2>/dev/null
timeout "$hang_seconds" tail -s 0.02 --pid="$service" -f /dev/null || fail 'the service outlives its bus'
start_bus
found 'after the bus restarted'

# Another program owns the name: Vauban does not take it, names the owner, and serves again when it is free.
kill_service
mkfifo "$TMPDIR/owner"
timeout "$hang_seconds" /usr/bin/python3 "$helper" owns-the-name >"$TMPDIR/owner" & owner=$!
exec 7<"$TMPDIR/owner"
read -r -t "$hang_seconds" said <&7; [ "$said" = owned ] || fail 'the name is not taken'
expect_status 53 timeout "$hang_seconds" "$VAUBAN_BUILD/vauban" secret-service --foreground
expect_text 'org.freedesktop.secrets is owned by python3' "$TMPDIR/err"
expect_text '). To replace it from the next login on: vauban enable secret-service' "$TMPDIR/err"
vauban doctor >"$TMPDIR/out"; expect_text python3 "$TMPDIR/out"
kill "$owner"; wait "$owner" 2>/dev/null
found 'after the other owner left'
echo "$LOOKUPS look-ups succeed while rooms are killed, and faults lose nothing"
