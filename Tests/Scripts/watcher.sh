#!/usr/bin/env bash
# Before the machine sleeps, the real rooms lock; when the screen locks, they lock if the user chose that. Over a real bus, with a simulated
# login manager.
# proves: C-053
# proves-equivalent: C-044
set -u
. Tests/Scripts/lib/command-line.sh
. Tests/Scripts/lib/own-bus.sh
. Tests/Scripts/lib/room-name.sh
export VAUBAN_TEST_BUS=$bus_address
log=$VAUBAN_HOME/vauban.log
trap 'vauban stop >/dev/null 2>&1; stop_logind; stop_bus' EXIT

# said NUMBER TEXT: waits until the log of the rooms has the text so many times.
said() {
    [ "$(timeout "$hang_seconds" tail -n +1 -F "$log" 2>/dev/null | grep -c -m "$1" -F -- "$2")" = "$1" ] || { cat "$log"; fail "the log does not say $1 times: $2"; }
}
# room NAME: the process of a room, among the launcher's children.
room() {
    launcher=$(sed -n 's/^launcher \([0-9]*\) .*/\1/p' "$VAUBAN_HOME/lock")
    for child in $(cat "/proc/$launcher/task/$launcher/children"); do
        [ "$(room_name "$child")" = "$1" ] && echo "$child" && return
    done
    return 1
}
stop_room() {
    kill -STOP "$1"
    awaited "process $1 stops" is_stopped "$1"
}
is_stopped() { [ "$(sed 's/.*) \(.\).*/\1/' "/proc/$1/stat")" = T ]; }
locked() { expect_status 36 vauban get mail/me --no-input; }
unlocked() { expect_status 0 vauban get mail/me; expect_text 'the secret' "$TMPDIR/out"; }
slept() { locked; vauban status >"$TMPDIR/out"; expect_text 'the machine went to sleep' "$TMPDIR/out"; }
wake() { tell_logind wake; expect_logind 'inhibit sleep Vauban delay'; unlock; unlocked; }
# screen COMMAND: waits until the watcher has queried the user of the session, so that the event is on its way.
screen() { tell_logind "$1"; expect_logind 'asked whose session it is'; }
given_up() { grep -cF 'the enclave did not confirm in time' "$log"; }
# sleep_takes MIN: sleep is delayed for at least so many milliseconds. Then the enclave releases it, and $late is 0; or the watcher, and it is 1.
sleep_takes() {
    late=$(given_up)
    began=$(date +%s%N)
    tell_logind sleep
    expect_logind released
    took=$((($(date +%s%N) - began) / 1000000))
    late=$(($(given_up) - late))
    [ "$took" -ge "$1" ] || fail "sleep was held up for $took ms, not for $1 ms"
}
confirmed() { [ "$late" = 0 ] || fail 'the enclave did not confirm that all is locked'; }
shown() { vauban status >"$TMPDIR/out" 2>/dev/null && grep -qF "$1" "$TMPDIR/out"; }
# The enclave may lock only after the watcher has given up.
await_sleep() { awaited 'the status says that the machine went to sleep' shown 'the machine went to sleep'; }

# sleeps: the machine sleeps and wakes, and the enclave confirms in time. If the machine halts meanwhile, it may be late, so only three times
# in a row count.
sleeps() {
    for _ in 1 2 3; do
        sleep_takes 0
        [ "$late" = 0 ] || await_sleep
        slept
        wake
        [ "$late" = 1 ] || break
    done
    confirmed
}

# The stranger owns the login manager's name as another user than the trusted one.
if [ "${VAUBAN_TEST_USERS:-0}" = 1 ]; then
    believed=$(id -u)
    as_stranger='setpriv --reuid vauban-test-alice --regid vauban-test-alice --clear-groups'
else
    believed=$(($(id -u) + 1))
    as_stranger=
fi
export VAUBAN_TEST_BUS_OWNER=$believed
set_passcode
printf 'the secret' | vauban set mail/me 2>/dev/null || fail 'nothing can be stored'
said 1 'cannot watch the bus'
unlocked
vauban status >"$TMPDIR/out"
expect_text 'does not announce sleep' "$TMPDIR/out"
echo 'ok: without a bus the rooms work, and the status reports what is missing'

start_bus
said 1 'there is no login manager to watch'
# A command of several words, so unquoted deliberately.
# shellcheck disable=SC2086
start_logind "$(id -u)" $as_stranger
said 1 'who is not trusted'
tell_logind sleep
expect_logind released
stop_logind
# The bus keeps the order: a client that has received the stranger's end has received its messages.
said 3 'there is no login manager to watch'
unlocked
echo 'ok: signals of another program than the login manager are ignored'

vauban stop 2>/dev/null
export VAUBAN_TEST_BUS_OWNER=$(id -u)
start_logind "$(id -u)"
unlock
expect_logind 'inhibit sleep Vauban delay'
watcher=$(room vauban-watcher) || fail 'there is no watcher'
sleep_takes 0
[ "$late" = 0 ] || await_sleep
slept
grep -qF 'does not announce sleep' "$TMPDIR/out" && fail 'sleep is announced, and the status denies it'
tell_logind wake
expect_logind 'inhibit sleep Vauban delay'
locked
grep -rqF 'the secret' "$VAUBAN_HOME/keychain" && fail 'the item is in the clear'
[ -n "$(find "$VAUBAN_HOME/keychain" -size +4k)" ] || fail 'there is no database to look at'
grep -qF 'closed while locked: from the start, by command and by announced sleep' SECURITY.md || fail 'SECURITY.md does not say when items are locked'
unlock
unlocked
echo 'ok: the machine sleeps when everything is locked, and waking opens nothing'

tell_logind forge
expect_logind forged
tell_logind unlock
expect_logind 'asked whose session it is'
tell_logind held
expect_logind 'held 1'
unlocked
echo 'ok: a signal of another sender is ignored'

# The first lock stays the cause, and the enclave handles events in order: if sleep is the cause, no screen had locked.
screen lock
screen 'hint 1'
sleep_takes 0
[ "$late" = 0 ] || await_sleep
slept
wake
expect_status 0 vauban settings --lock-with-screen on --passcode-fd 0 <<<"$passcode"
for screen in lock 'hint 1'; do
    screen "$screen"
    eventually shown 'the screen was locked'
    locked
    # Neither the unlock of the screen nor the end of sleep opens anything.
    screen "${screen/lock/unlock}"
    screen 'hint 0'
    tell_logind sleep
    expect_logind released
    locked
    vauban status >"$TMPDIR/out"
    expect_text 'the screen was locked' "$TMPDIR/out"
    wake
done
expect_status 0 vauban settings --lock-with-screen off --passcode-fd 0 <<<"$passcode"
screen lock
sleeps
echo 'ok: the screen'"'"'s lock locks where the user chose that, and nowhere else'

# The enclave replies only when keychaind has returned its keys or was disconnected; sleep waits for that, and no longer.
keychaind=$(room keychaind) || fail 'there is no keychaind'
# If the machine halts meanwhile, the enclave may be late as well, so only three times in a row count.
for _ in 1 2 3; do
    stop_room "$keychaind"
    sleep_takes 1900
    kill -CONT "$keychaind"
    await_sleep
    slept
    wake
    [ "$late" = 1 ] || break
done
confirmed
enclaved=$(room enclaved) || fail 'there is no enclaved'
stop_room "$enclaved"
sleep_takes 3900
[ "$late" = 1 ] || fail 'another program than the watcher let the machine sleep'
kill -CONT "$enclaved"
await_sleep
slept
wake
echo 'ok: sleep is delayed until the lock is complete or the watcher gives up'

kill -KILL "$enclaved"
restarted() { [ "$(room enclaved)" != "$enclaved" ] && shown 'not unlocked since'; }
eventually restarted
unlock
unlocked
sleeps
echo 'ok: a restarted enclave is notified as well'

stop_bus
said 1 'hear the bus'
start_bus
stop_logind
start_logind "$(id -u)"
expect_logind 'inhibit sleep Vauban delay'
sleeps
[ "$(room vauban-watcher)" = "$watcher" ] || fail 'the watcher did not live through it'
read -r -a times <<<"$(sed 's/.*) //' "/proc/$watcher/stat")"
[ $((times[11] + times[12])) -lt "$(getconf CLK_TCK)" ] || fail 'the watcher took more than a second of the processor'
echo 'ok: a bus that returns is watched again, by the same watcher, with almost no processor time'
