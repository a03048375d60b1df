#!/usr/bin/env bash
# The programs SecondFactor and RelyingParty of Examples with a finger: the key is made for the present fingers, real fprintd with a virtual
# sensor determines the match, and another finger enrolled later ends the key. Without a finger ExamplesTests runs them.
# proves: C-171
set -u
samples=$VAUBAN_BUILD
. Tests/Scripts/lib/command-line.sh
. Tests/Scripts/lib/own-bus.sh
. Tests/Scripts/lib/own-fprintd.sh
trap 'vauban stop >/dev/null 2>&1; stop_fingers; stop_logind; stop_bus' EXIT
export VAUBAN_TEST_READER_BUS=$bus_address VAUBAN_TEST_BUS_OWNER=$(id -u)

party() { "$samples/RelyingParty" "$TMPDIR/party" "$@"; }
touches=$TMPDIR/bus/touches
printf '#!/bin/sh\nexec /usr/bin/python3 "%s/bus/own-fprintd.py" "%s" "%s" "$@" >>"%s/touched" 2>&1\n' "$TMPDIR" "$bus_address" "$sensor" "$TMPDIR" >"$touches"
chmod 755 "$touches"

# approves WHAT STATUS: approves the challenge at a terminal, with the steps on standard input.
approves() {
    sed "s|^touch |run $touches touch |" >"$TMPDIR/steps"
    play "$VAUBAN_BUILD/vauban" approve -- sh -c 'exec "$1" approve <"$2" >"$3"' sh "$samples/SecondFactor" "$TMPDIR/challenge" "$TMPDIR/response" \
        <"$TMPDIR/steps" >"$TMPDIR/out" 2>"$TMPDIR/err"
    [ $? = "$2" ] && return
    cat "$TMPDIR/out" "$TMPDIR/err" "$TMPDIR/touched" "$VAUBAN_HOME/vauban.log"
    fail "$1"
}
shown() { vauban status >"$TMPDIR/status" 2>/dev/null && grep -qF -- "$1" "$TMPDIR/status"; }
# awaits WHAT TEXT: repeats until the status has the text.
awaits() {
    eventually shown "$2" && return
    cat "$TMPDIR/status"
    fail "$1"
}
# enroll_finger WHO: enrolls a finger of that user.
enroll_finger() {
    "$touches" touch "SCAN $1" "SCAN $1" "SCAN $1" "SCAN $1" "SCAN $1" &
    touching=$!
    expect_status 0 vauban finger enroll --passcode-fd 0 <<<"$passcode"
    wait "$touching" || { cat "$TMPDIR/touched"; fail 'the touches did not end'; }
}

start_bus
start_logind "$(id -u)"
start_polkit
start_fprintd
set_passcode
awaits 'fprintd came' 'reader available; no finger enrolled'
enroll_finger alice

expect_status 0 "$samples/SecondFactor" enroll anna
[ -s "$TMPDIR/err" ] && fail 'the key prompts for the passcode although a finger is enrolled'
cp "$TMPDIR/out" "$TMPDIR/anna.key"
expect_status 0 party enroll anna transfer <"$TMPDIR/anna.key"
party ask anna 'transfer 40 to bert' >"$TMPDIR/challenge"
approves 'a finger approves' 0 <<STEPS
expect Message:  “example.org: transfer 40 to bert”
expect Touch the fingerprint reader
absent Passcode (
touch 'SCAN alice'
STEPS
expect_status 0 party verify <"$TMPDIR/response"
expect_text 'Approved by anna: transfer 40 to bert' "$TMPDIR/out"
echo 'ok: the finger that was enrolled when the key was made approves'

party ask anna 'transfer 40 to bert' >"$TMPDIR/challenge"
approves 'another finger, which the reader does not know' 1 <<STEPS
expect Touch the fingerprint reader
touch 'SCAN bob' 'SCAN bob' 'SCAN bob'
absent Passcode (
STEPS
[ -s "$TMPDIR/response" ] && fail 'a finger that is not enrolled approved'
echo 'ok: another finger does not, and there is no prompt for the passcode instead'

# A thief with the passcode enrolls their own finger.
enroll_finger bob
approves 'a finger enrolled later' 1 <<STEPS
absent Touch the fingerprint reader
absent Passcode (
STEPS
[ -s "$TMPDIR/response" ] && fail 'a finger that was enrolled later approved'
# The changed set ended it: a key that is made now accepts a finger.
expect_status 0 "$samples/SecondFactor" enroll bert
cp "$TMPDIR/out" "$TMPDIR/bert.key"
expect_status 0 party enroll bert transfer <"$TMPDIR/bert.key"
party ask bert 'transfer 40 to anna' >"$TMPDIR/challenge"
approves 'a key made for both fingers' 0 <<STEPS
expect Touch the fingerprint reader
touch 'SCAN alice'
STEPS
expect_status 0 party verify <"$TMPDIR/response"
echo 'ok: a finger that is enrolled later ends the key'
expect_status 0 "$samples/SecondFactor" forget anna

# As shipped, user mode cannot distinguish sets of fingers, and the program reports what it does instead.
vauban stop 2>/dev/null
printf '%s\n' --finger-sets by-mode >"$VAUBAN_HOME/enclave-arguments"
unlock
expect_status 0 "$samples/SecondFactor" enroll anna
expect_text 'The passcode will do in place of a finger' "$TMPDIR/err"
echo 'ok: if the present fingers cannot be distinguished from others, the passcode is accepted too, and that is reported'
