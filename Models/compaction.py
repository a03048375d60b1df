#!/usr/bin/env python3
"""Checks the model of compaction in a circle of devices (Specs/sync.md) with spin.

compaction.py check    as circle.py

It works in $TMPDIR and needs spin and gcc.
"""
import os
import sys

from circle import check

MODEL = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'compaction.pml')

SOUND = [
    ('compaction, with a carrier that shows what ever was', 'SOUND'),
    ('twice, where the carrier may show the earlier record', 'TWICE FILES=5'),
]

REACHED = [
    ('files are removed', 'REACH_REMOVED'),
    ('a device that joins reads on behind the gap', 'REACH_JOINED'),
    ('a device that was put back reads on behind the gap', 'REACH_JUMPED'),
    ('a device that joins reads on behind the second gap', 'TWICE FILES=5 REACH_TWICE'),
]

BROKEN = [
    (1, 'nothing is written again', 'BREAK_REWRITE'),
    (1, 'deletions are not written again', 'BREAK_DELETIONS'),
    (1, 'a killed run keeps its plan without what it has still to write', 'BREAK_MARKS'),
    (2, 'files go before the record is there', 'BREAK_ORDER'),
    (1, 'a gap needs no record', 'BREAK_RECORD'),
    (1, 'a device that is killed behind a gap forgets up to where it must read', 'BREAK_UNTIL'),
    (1, 'the carrier makes a record', 'BREAK_SIGNED'),
    (3, 'the record does not say what came before the gap', 'BREAK_CHAINS'),
    (4, 'the writer waits for nobody', 'BREAK_ACK'),
]

if __name__ == '__main__':
    if sys.argv[1:] != ['check']:
        sys.exit(__doc__)
    sys.exit(1 if check(MODEL, SOUND, REACHED, BROKEN) else 0)
