#!/usr/bin/env python3
"""Checks the model of joining and removal in a circle of devices (Specs/sync.md) with spin.

circle.py check    every run of the table below, exhaustively; that the ends are reached; then every broken circle

It works in $TMPDIR and needs spin and gcc.
"""
import os
import shutil
import subprocess
import sys
import tempfile
import time

from evidence import number

MODEL = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'circle.pml')

# Name, definitions. Each must end without an error, with every state visited.
SOUND = [
    ('joining, with the carrier between', 'JOINING'),
    ('joining by the recovery key, with a removed device at the carrier', 'RECOVERY'),
    ('the same, with somebody who has the paper', 'RECOVERY STOLEN'),
    ('removal, with the removed device at the carrier', 'REMOVAL'),
    ('a carrier that is no member', 'OUTSIDE'),
]

# What the model must be able to do.
REACHED = [
    ('a device joins', 'JOINING REACH_JOINED'),
    ('a device joins by the recovery key after a removal', 'RECOVERY REACH_RECOVERED'),
    ('both devices follow a removal, and read each other', 'REMOVAL REACH_REMOVED'),
    ('a removal that is held back is noticed', 'REMOVAL REACH_NOTICED'),
]

# The property that must be violated, what is broken, definitions.
BROKEN = [
    (1, 'a member answers without a commitment', 'JOINING BREAK_COMMITMENT'),
    (1, 'the new device reveals before an answer', 'JOINING BREAK_REVEAL_FIRST'),
    (1, 'the new device reveals for two answers', 'JOINING BREAK_REVEAL_TWICE'),
    (1, 'no code is typed', 'JOINING BREAK_TYPED'),
    (1, "anybody's statement is followed", 'OUTSIDE BREAK_SIGNER'),
    (2, 'a removal keeps the key', 'REMOVAL BREAK_ROLL'),
    (3, 'a device writes though it is shown a file under a later key', 'REMOVAL BREAK_UNKNOWN'),
    (3, 'a device writes though it is shown a file under another key', 'REMOVAL BREAK_FORKED'),
    (4, 'anybody brings a removed device back', 'REMOVAL BREAK_SIGNER'),
    (5, 'a statement without a proof leads the new device', 'RECOVERY BREAK_PROOF'),
    (2, 'a recovery key that ends leaves the circle key', 'RECOVERY BREAK_END'),
    (1, 'a recovery key that ended still signs', 'RECOVERY BREAK_USED'),
    (6, 'a statement by the recovery key may remove a device', 'RECOVERY STOLEN BREAK_MORE'),
]


def verify(model, definitions, folder):
    shutil.copy(model, folder)
    flags = ['-D' + word for word in definitions.split()]
    made = subprocess.run(['spin', *flags, '-a', os.path.basename(model)], cwd=folder, capture_output=True, text=True)
    if made.returncode != 0 or not os.path.exists(os.path.join(folder, 'pan.c')):
        sys.exit('spin: ' + made.stdout + made.stderr)
    subprocess.run(['gcc', '-O1', '-w', '-DMEMLIM=1000', '-DSAFETY', '-DCOLLAPSE', '-o', 'pan', 'pan.c'], cwd=folder, check=True)
    # A process that waits for what never comes is no error here: only the properties count.
    return subprocess.run([os.path.join(folder, 'pan'), '-E', '-m100000', '-w20'], cwd=folder, capture_output=True, text=True).stdout


def check(model, sound, reached, broken):
    failures = 0
    for kind, table in (('holds', sound), ('reached', reached), ('seen', broken)):
        for *promise, name, definitions in table:
            start = time.monotonic()
            alone = f'ONLY={promise[0]} ' if promise else ''
            with tempfile.TemporaryDirectory() as folder:
                output = verify(model, alone + definitions, folder)
            states = int(number(r'([0-9.e+]+) states, stored', output))
            whole = not any(word in output for word in ('max search depth too small', 'out of memory', 'reached -DMEMLIM'))
            good = {
                'holds': 'errors: 0' in output and states > 0 and whole,
                'reached': 'assertion violated' in output and 'broken' not in output.split('assertion violated')[-1].split('\n')[0],
                'seen': f'assertion violated (broken!={promise[0] if promise else 0})' in output}[kind]
            failures += not good
            print(f'{kind if good else "FAILED":8} {states:9} states {time.monotonic() - start:5.1f} s  '
                  + (f'property {promise[0]}: ' if promise else '') + name, flush=True)
            if not good:
                print(output)
    return failures


if __name__ == '__main__':
    if sys.argv[1:] != ['check']:
        sys.exit(__doc__)
    sys.exit(1 if check(MODEL, SOUND, REACHED, BROKEN) else 0)
