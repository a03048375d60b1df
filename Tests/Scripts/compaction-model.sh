#!/usr/bin/env bash
# The model of compaction (Specs/sync.md), exhaustively: its properties hold, its ends are reached, and the check detects a compaction that lacks
# a part.
# limit: 600
# background: true
set -u
command -v spin >/dev/null && command -v gcc >/dev/null && command -v python3 >/dev/null || scripts/prerequisites test || true
for program in spin gcc python3; do
    command -v "$program" >/dev/null || { echo "$program is not here and could not be installed"; exit 77; }
done
python3 -B Models/compaction.py check || { echo 'the model does not hold, or a broken one does'; exit 1; }
echo 'the model of compaction holds, and broken ones are detected'
