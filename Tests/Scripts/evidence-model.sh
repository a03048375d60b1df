#!/usr/bin/env bash
# The model of the evidence protocol (Specs/evidence-protocol.md), exhaustively; broken enclaves, which must be detected; and traces: those under
# runs are runs of the model, each under refused is not one, but is one of the model that is broken in the way that the file name states (up to
# the first `-`).
# limit: 1200
# background: true
set -u
command -v spin >/dev/null && command -v gcc >/dev/null && command -v python3 >/dev/null || scripts/prerequisites test || true
for program in spin gcc python3; do
    command -v "$program" >/dev/null || { echo "$program is not here and could not be installed"; exit 77; }
done
python3 Models/evidence.py check || { echo 'the model does not hold, or a broken one does'; exit 1; }
python3 Models/evidence.py replay Models/traces/runs/*.trace || { echo 'a trace of the protocol is refused'; exit 1; }
for trace in Models/traces/refused/*.trace; do
    status=0; why=$(python3 Models/evidence.py replay "$trace") || status=$?
    echo "$why"
    [ "$status" = 1 ] && [[ $why == *'is no step of the model'* ]] || { echo "$trace was not refused"; exit 1; }
    broken=${trace##*/}; broken=${broken%.trace}
    # So it was refused for this reason and no other.
    python3 Models/evidence.py replay --with "${broken%%-*}" "$trace" >/dev/null || { echo "$trace is refused for another reason"; exit 1; }
done
echo 'the model holds, and traces are distinguished'
