#!/usr/bin/env bash
# Fingerprints from the caller to the sensor and back: the command line, the rooms, the reader, and real fprintd with a virtual sensor.
# limit: 1200
# proves: C-137 C-138 C-139 C-140 C-141 C-147 C-148
# proves-equivalent: C-049 C-050
set -u
. Tests/Scripts/lib/command-line.sh
. Tests/Scripts/lib/own-bus.sh
. Tests/Scripts/lib/own-fprintd.sh
command -v dbus-monitor >/dev/null || { echo 'there is no dbus-monitor here'; exit 77; }
[ -x "$VAUBAN_BUILD/vauban-attendant-testing" ] || { echo 'vauban-attendant-testing is not built'; exit 77; }
trap 'vauban stop >/dev/null 2>&1; stop_fingers; stop_logind; stop_bus' EXIT
export VAUBAN_TEST_READER_BUS=$bus_address VAUBAN_TEST_BUS_OWNER=$(id -u)
me=$(id -un)
log=$VAUBAN_HOME/vauban.log

# awaits WHAT TEXT: asks for the status until it has the text.
awaits() {
    hung=$((SECONDS + hang_seconds))
    while [ "$SECONDS" -lt "$hung" ]; do vauban status >"$TMPDIR/status" 2>/dev/null && grep -qF -- "$2" "$TMPDIR/status" && return; done
    cat "$TMPDIR/status" "$log"
    fail "$1: the status does not say: $2"
}
with_passcode() { expect_status "$1" vauban "${@:2}" --passcode-fd 0 <<<"$passcode"; }
# room NAME: the process of a room, by the first 15 bytes of its program's name, among the launcher's children.
room() {
    launcher=$(sed -n 's/^launcher \([0-9]*\) .*/\1/p' "$VAUBAN_HOME/lock")
    for child in $(cat "/proc/$launcher/task/$launcher/children"); do
        [ "$(cat "/proc/$child/comm")" = "$1" ] && echo "$child" && return
    done
    return 1
}
# Until other programs have had the sensor so often.
await_held() { timeout "$hang_seconds" tail -n +1 -F "$TMPDIR/touches" 2>/dev/null | grep -m "$1" held | tail -n +"$1" | grep -q . || fail 'another program does not get the sensor'; }
# at_prompt WHAT [STATUS]: reads the item that asks, at a new terminal, with the steps on standard input after the question came,
# which ends with this status. A word after `touch` is what the finger does: see own-fprintd.py. `run` goes through a shell, which the path may need.
touches() { printf '%s/bus/touch' "$TMPDIR"; }
printf '#!/bin/sh\nexec /usr/bin/python3 "%s/bus/own-fprintd.py" "%s" "%s" "$@" >>"%s/touches" 2>&1\n' "$TMPDIR" "$bus_address" "$sensor" "$TMPDIR" >"$(touches)"
chmod 755 "$(touches)"
at_prompt() {
    { echo 'expect Action:'; sed "s|^touch |run $(touches) touch |; s|^wanted$|run $(touches) wanted|; s|^early |run $(touches) early |"; } >"$TMPDIR/steps"
    play "$VAUBAN_BUILD/vauban" get bank/me <"$TMPDIR/steps" >"$TMPDIR/out" 2>"$TMPDIR/err"
    [ $? = "${2:-0}" ] && return
    cat "$TMPDIR/out" "$TMPDIR/err" "$TMPDIR/touches" "$log"
    fail "$1"
}

start_bus
# fprintd asks it when the machine sleeps.
start_logind "$(id -u)"
start_polkit
set_passcode
printf 'the secret' | vauban set bank/me --require presence 2>/dev/null || fail 'nothing can be stored'
vauban status >"$TMPDIR/status"
expect_text 'no reader' "$TMPDIR/status"
with_passcode 51 finger enroll
expect_text 'no fingerprint reader' "$TMPDIR/err"
echo 'ok: without fprintd there is no reader, and it is said'

start_fprintd
awaits 'fprintd came' 'reader available; no finger enrolled'
with_passcode 0 finger list
expect_text 'No fingers are enrolled' "$TMPDIR/err"
expect_status 51 vauban finger enroll --passcode-fd 0 <<<'another passcode'
expect_text 'the passcode is wrong' "$TMPDIR/err"
[ -S "$sensor" ] && fail 'the sensor is open, though the passcode was wrong'
"$(touches)" touch 'RETRY 1' 'SCAN alice' 'RETRY 3' 'SCAN alice' 'SCAN alice' 'SCAN alice' 'SCAN alice' &
touching=$!
with_passcode 0 finger enroll
wait "$touching" || { cat "$TMPDIR/touches"; fail 'the touches did not end'; }
for text in 'Touch it 5 times with the same finger.' 'That was too short; swipe again (0 of 5 touches are done).' '1 of 5 touches are done.' \
    'Take the finger away, then touch again (1 of 5 touches are done).' '4 of 5 touches are done.' 'Enrolled. Your fingers: right index finger'; do
    expect_text "$text" "$TMPDIR/err"
done
with_passcode 0 finger list
[ "$(cat "$TMPDIR/out")" = 'right index finger' ] || fail "the list is $(cat "$TMPDIR/out")"
vauban status >"$TMPDIR/status"
expect_text 'enrolled; 5 more may fail' "$TMPDIR/status"
echo 'ok: a finger is enrolled, with two touches that had to be made again'

at_prompt 'a match' <<STEPS
expect Touch the fingerprint reader, or type your Vauban passcode.
touch 'SCAN alice'
expect the secret
STEPS
template=$(find "$TMPDIR/fprint" -type f)
[ -n "$template" ] || fail 'fprintd keeps no template'
before=$(sha256sum "$template")
at_prompt 'no match, a touch that could not be read, a match' <<STEPS
expect Touch the fingerprint reader
touch 'SCAN bob' 'RETRY 0' 'SCAN alice'
expect the secret
STEPS
at_prompt 'an early touch' <<STEPS
expect Touch the fingerprint reader
early 'SCAN alice'
expect the secret
STEPS
# What fprintd cannot give, as SECURITY.md says it.
[ "$before" = "$(sha256sum "$template")" ] || fail 'a match changed the template'
[ "$(stat -c %U:%a "$TMPDIR/fprint")" = "$me:700" ] || fail 'the folder of templates is not its user'"'"'s alone'
grep -qF 'fprintd stores templates in files of root, or in the sensor' SECURITY.md || fail 'SECURITY.md does not say where templates lie'
grep -qF 'a match changes no template' SECURITY.md || fail 'SECURITY.md does not say that nothing is learnt'
grep -qaF virtual_device "$template" && ! grep -rqaF virtual_device "$VAUBAN_HOME"/{enclave,keychain,reader} || fail "a room keeps something of the template store"
echo 'ok: a match opens the item, after a miss and a bad touch as well, and however early it comes'

# Three misses end the finger in one question; five in all, until the passcode comes.
at_prompt 'three misses' 128 <<STEPS
expect Touch the fingerprint reader
touch 'SCAN bob' 'SCAN bob' 'SCAN bob'
expect Passcode (
key ctrl-c
STEPS
vauban status >"$TMPDIR/status"
# One had failed before; a match in between takes nothing back.
expect_text '1 more may fail' "$TMPDIR/status"
at_prompt 'five misses' 128 <<STEPS
expect Touch the fingerprint reader
touch 'SCAN bob'
expect Passcode (
key ctrl-c
STEPS
at_prompt 'while fingers do not count only the passcode is asked for' <<STEPS
absent Touch the fingerprint reader
expect Passcode (
secret $passcode
expect the secret
STEPS
at_prompt 'after the passcode' <<STEPS
expect Touch the fingerprint reader
touch 'SCAN alice'
expect the secret
STEPS
echo 'ok: three misses end the finger in a question, five until the passcode, which brings it back'

at_prompt 'a sensor with an error' <<STEPS
expect Touch the fingerprint reader
touch 'ERROR 1' 'SCAN alice'
expect the secret
STEPS
mkfifo "$TMPDIR/holding"
"$(touches)" hold "$me" <"$TMPDIR/holding" &
holder=$!
exec {holding}>"$TMPDIR/holding"
await_held 1
{
    echo 'expect Touch the fingerprint reader'
    # The other program lets go when the reader was refused the sensor.
    echo "run timeout $hang_seconds tail -n +1 -F '$log' 2>/dev/null | grep -q -m 1 'another program has the sensor' && kill $holder"
    echo "touch 'SCAN alice'"
    echo 'expect the secret'
} | at_prompt 'another program has the sensor' || exit 1
wait "$holder" 2>/dev/null
exec {holding}>&-
echo 'ok: an error of the sensor and another program at it end nothing'

# Two callers: the second is asked when the first was answered, each by a touch of its own.
(printf '%s\n' 'expect the secret' | play "$VAUBAN_BUILD/vauban" get bank/me >"$TMPDIR/second" 2>&1) &
second=$!
(printf '%s\n' 'expect the secret' | play "$VAUBAN_BUILD/vauban" get bank/me >"$TMPDIR/first" 2>&1) &
first=$!
"$(touches)" touch 'SCAN alice' 'SCAN alice' || { cat "$TMPDIR/touches" "$log"; fail 'two callers do not want two touches'; }
wait "$first" && wait "$second" || { cat "$TMPDIR/first" "$TMPDIR/second"; fail 'two callers were not both answered'; }
echo 'ok: two callers at once are two touches'

# Each process of the path may die while the user is asked: the question goes on with the passcode.
at_prompt 'the reader was killed' <<STEPS
expect Touch the fingerprint reader
run kill -KILL $(room vauban-attendan)
expect Passcode (
secret $passcode
expect the secret
STEPS
awaits 'the reader came back' 'enrolled; 5 more may fail'
at_prompt 'the reader is believed again' <<STEPS
expect Touch the fingerprint reader
touch 'SCAN alice'
expect the secret
STEPS
at_prompt 'fprintd was killed' <<STEPS
expect Touch the fingerprint reader
run kill -KILL $fprintd_pid
expect Passcode (
secret $passcode
expect the secret
STEPS
wait "$fprintd_pid" 2>/dev/null
awaits 'fprintd went' 'the reader is missing'
start_fprintd
awaits 'fprintd came back' 'enrolled; 5 more may fail'
at_prompt 'the sensor was taken away' <<STEPS
expect Touch the fingerprint reader
touch UNPLUG
expect Passcode (
secret $passcode
expect the secret
STEPS
awaits 'the sensor went' 'the reader is missing'
stop_fprintd
start_fprintd
awaits 'the sensor came back' 'enrolled; 5 more may fail'
echo 'ok: with the reader, fprintd or the sensor gone, the question goes on with the passcode, and the finger comes back'

# The machine sleeps when fprintd lets it, as at a real login manager, and not before. fprintd has one life here: a claim that is given
# back while the machine sleeps would have it refuse the sensor for the rest of that.
slept() {
    awaits "$1" 'the reader is missing'
    tell_logind wake
    # fprintd holds up the next sleep when it has woken the sensor.
    expect_logind 'inhibit sleep net.reactivated.Fprint delay'
    awaits "$1, and woke" 'enrolled; 5 more may fail'
}
matches() {
    at_prompt "$1" <<STEPS
expect Touch the fingerprint reader
touch 'SCAN alice'
expect the secret
STEPS
}
at_prompt 'the machine sleeps while it asks' <<STEPS
expect Touch the fingerprint reader
run echo sleep >/proc/$$/fd/$logind_in
expect Passcode (
run timeout $hang_seconds grep -q -m 1 '^released' </proc/$$/fd/$logind_out
secret $passcode
expect the secret
STEPS
slept 'the machine slept while it asked'
matches 'after the machine slept while it asked'
for time in 1 2 3; do
    tell_logind sleep
    expect_logind released
    slept "the machine slept while nothing was asked, $time"
done
matches 'after the machine slept while nothing was asked'
{
    "$(touches)" touch 'SCAN alice' 'SCAN alice'
    tell_logind sleep
} &
touching=$!
with_passcode 51 finger enroll
wait "$touching"
expect_logind released
slept 'the machine slept while a finger was learnt'
matches 'after the machine slept while a finger was learnt'
# The machine goes to sleep after the question ended and before fprintd has answered: what the reader then says of the sensor comes too late.
dbus-monitor --address "$bus_address" "member='VerifyStop'" "member='PrepareForSleep'" >"$TMPDIR/monitored" 2>&1 &
monitor=$!
monitored() { timeout "$hang_seconds" tail -n +1 -F "$TMPDIR/monitored" 2>/dev/null | grep -q -m 1 "$1" || { cat "$TMPDIR/monitored"; fail "the bus did not carry: $1"; }; }
monitored NameAcquired
at_prompt 'the question ends' 128 <<STEPS
expect Touch the fingerprint reader
wanted
run kill -STOP $fprintd_pid
key ctrl-c
STEPS
monitored VerifyStop
tell_logind sleep
monitored PrepareForSleep
kill -CONT "$fprintd_pid"
expect_logind released
kill "$monitor"
slept 'the machine slept when the question had ended'
matches 'after the machine slept when the question had ended'
tell_logind "forge $(room vauban-attendan)"
expect_logind forged
matches 'somebody else says that the machine sleeps'
# Nobody says any more that the machine is awake, until fprintd hears it of the next login manager.
tell_logind sleep
expect_logind released
awaits 'the machine sleeps' 'the reader is missing'
stop_logind
awaits 'the login manager went while the machine slept' 'enrolled; 5 more may fail'
start_logind "$(id -u)"
tell_logind wake
expect_logind 'inhibit sleep net.reactivated.Fprint delay'
matches 'after another login manager woke the machine'
kill -0 "$fprintd_pid" || fail 'fprintd did not live through it'
echo 'ok: while the machine sleeps the question goes on with the passcode, and when it wakes the finger is awaited again and matches'

# Another program gives the sensor back while the machine sleeps, and fprintd refuses it to everybody from then on, until it ends; the
# reader lets it end.
stop_fprintd
awaits 'fprintd was stopped' 'the reader is missing'
start_fprintd_by_bus
"$(touches)" hold "$me" <"$TMPDIR/holding" &
holder=$!
exec {holding}>"$TMPDIR/holding"
await_held 2
tell_logind sleep
expect_logind released
kill "$holder"
timeout "$hang_seconds" tail -n +1 -F "$TMPDIR/fprintd.log" 2>/dev/null | grep -q -m 1 'Error closing device after disconnect' || fail 'fprintd closes a sensor that sleeps'
exec {holding}>&-
slept 'the machine slept while another program had the sensor'
refusing=$(cat "$TMPDIR/fprintd.pid")
at_prompt 'fprintd refuses the sensor' <<STEPS
expect Touch the fingerprint reader
expect Passcode (
secret $passcode
expect the secret
STEPS
timeout "$hang_seconds" tail -s 0.02 --pid="$refusing" -f /dev/null || fail 'fprintd does not end, though nobody needs it'
awaits 'fprintd was started anew' 'enrolled; 5 more may fail'
matches 'after fprintd was started anew'
stop_fprintd_by_bus
start_fprintd
awaits 'fprintd came back' 'enrolled; 5 more may fail'
echo 'ok: an fprintd that refuses the sensor is left alone until it has ended, and the next one gives it'

# A finger that is learnt while the question waits is nobody's but its own: the sensor is held by one at a time.
"$(touches)" touch 'SCAN alice' 'SCAN alice' 'SCAN alice' 'SCAN alice' 'SCAN alice' &
touching=$!
with_passcode 0 finger enroll --unlock
wait "$touching"
expect_text 'right index finger, left index finger' "$TMPDIR/err"
vauban lock
play "$VAUBAN_BUILD/vauban" unlock >"$TMPDIR/out" 2>"$TMPDIR/err" <<STEPS || { cat "$TMPDIR/out" "$TMPDIR/err" "$log"; fail 'a finger does not unlock'; }
expect Touch the fingerprint reader, or press Return
run $(touches) touch 'SCAN alice'
STEPS
vauban status >"$TMPDIR/status"
expect_text 'a finger was recognized' "$TMPDIR/status"
echo 'ok: a finger unlocks where that was chosen'

# Every change that Vauban did not make itself ends the enrollment: a finger that another program enrols, under a name that was there
# before as well; fingers that are deleted; and a reader that lost its state, or is another.
ended() {
    awaits "$1" 'was changed without Vauban'
    expect_text 'no finger enrolled' "$TMPDIR/status"
}
anew() {
    "$(touches)" touch 'SCAN alice' 'SCAN alice' 'SCAN alice' 'SCAN alice' 'SCAN alice' &
    touching=$!
    with_passcode 0 finger enroll
    wait "$touching"
}
"$(touches)" enroll "$me" right-index-finger 'SCAN mallory' || { cat "$TMPDIR/touches"; fail 'another program cannot enroll'; }
ended 'another program enrolled a finger'
at_prompt 'after another program enrolled a finger' <<STEPS
absent Touch the fingerprint reader
expect Passcode (
secret $passcode
expect the secret
STEPS
anew
"$(touches)" delete "$me" || { cat "$TMPDIR/touches"; fail 'another program cannot delete'; }
at_prompt 'after another program deleted fingers' <<STEPS
expect Passcode (
secret $passcode
expect the secret
STEPS
ended 'another program deleted fingers'
anew
reader=$(room vauban-attendan)
rm "$VAUBAN_HOME/reader/enrollments"
kill -KILL "$reader"
awaits 'the reader came back' 'enrolled; 5 more may fail'
at_prompt 'after the reader lost its state' <<STEPS
expect Touch the fingerprint reader
touch 'SCAN alice'
expect Passcode (
secret $passcode
expect the secret
STEPS
ended 'the reader lost its state'
echo 'ok: what Vauban did not enroll does not count'

anew
[ "$(stat -c %a "$VAUBAN_HOME/reader/pairing")" = 600 ] || fail 'the key of the pairing is not its user'"'"'s alone'
# A key that is not the enclave's: the first word ends the line, and the reader pairs anew.
head -c 32 /dev/zero >"$VAUBAN_HOME/reader/pairing"
reader=$(room vauban-attendan)
kill -KILL "$reader"
awaits 'the reader came back' 'enrolled; 5 more may fail'
at_prompt 'a reader with another key' 128 <<STEPS
expect Touch the fingerprint reader
touch 'SCAN alice'
expect Passcode (
key ctrl-c
STEPS
awaits 'it was paired anew' 'enrolled; 5 more may fail'
at_prompt 'a reader that was paired anew' <<STEPS
expect Touch the fingerprint reader
touch 'SCAN alice'
expect the secret
STEPS
# As shipped, user mode does not take what only the present set of fingers opens.
[ "$("$VAUBAN_BUILD/keychain-caller" fingers present x)" = 0 ] || fail 'the enclave for tests does not take the present set'
vauban stop 2>/dev/null
printf '%s\n' --finger-sets by-mode >"$VAUBAN_HOME/enclave-arguments"
unlock
[ "$("$VAUBAN_BUILD/keychain-caller" fingers other x)" = -4 ] || fail 'user mode takes the present set'
awaits 'the reader came back' 'enrolled; 5 more may fail'
echo 'ok: in user mode the present set of fingers is refused'

with_passcode 0 finger delete
with_passcode 0 finger list
expect_text 'No fingers are enrolled' "$TMPDIR/err"
[ -z "$(find "$TMPDIR/fprint" -type f)" ] || fail 'fprintd still has a template'
at_prompt 'after fingers were deleted' <<STEPS
absent Touch the fingerprint reader
expect Passcode (
secret $passcode
expect the secret
STEPS
echo 'ok: a reader with a foreign key is not believed and pairs anew; deleted fingers are gone at fprintd too'
