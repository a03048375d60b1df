#!/usr/bin/env python3
"""Checks the model of the evidence protocol (Specs/evidence-protocol.md) with spin, and replays recorded traces against it.

evidence.py check                     every run of the table below, exhaustively; then every broken enclave
evidence.py replay [--with BREAK] FILE...   is each file a run of the model? One line a file; status 1 when one is not

It works in $TMPDIR and needs spin and gcc.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

MODEL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "evidence.pml")
MEGABYTES_MAX = 2000

# Name, definitions. Each must end without an error, with every state visited.
SOUND = [
    ("two callers of a user, three tries each", "REQUESTS=2 TRIES=3 CONTRAST"),
    ("two callers of a user, anything", "REQUESTS=2 TRIES=1"),
    ("two callers, prompts and direct unlocks", "REQUESTS=2 TRIES=1 DIRECT"),
    ("two users, prompts and direct unlocks", "REQUESTS=2 TRIES=1 DIRECT STRANGERS CONTRAST"),
    ("two callers, passcode and finger", "REQUESTS=2 TRIES=1 NONCES_EACH=2 FINGER CONTRAST"),
    ("one caller, passcode and finger, two tries of each", "REQUESTS=1 TRIES=2 NONCES_EACH=4 FINGER"),
    ("every request ends", "REQUESTS=1 TRIES=2 NONCES_EACH=3 FINGER LIVE"),
    ("words altered, were the seal to cover them", "REQUESTS=2 TRIES=1 LIMIT_ALTERED SEAL_COVERS_QUESTION"),
]

# The property that must be violated, what is broken, definitions.
BROKEN = [
    (3, "a nonce is not bound to its prompt", "REQUESTS=2 TRIES=1 BREAK_BINDING"),
    (1, "a reader's verdict is not bound to a nonce", "REQUESTS=2 TRIES=1 NONCES_EACH=2 FINGER CONTRAST BREAK_VERDICT"),
    (2, "a nonce is not used up", "REQUESTS=2 TRIES=1 DIRECT BREAK_USED_UP"),
    (2, "a nonce outlives its prompt", "REQUESTS=1 TRIES=1 BREAK_WITHDRAWN"),
    (3, "a nonce serves any purpose", "REQUESTS=2 TRIES=1 DIRECT CONTRAST BREAK_PURPOSE"),
    (3, "a nonce serves any user", "REQUESTS=2 TRIES=1 DIRECT STRANGERS BREAK_PERSON"),
    (1, "a seal opens for any nonce and purpose", "REQUESTS=2 TRIES=1 DIRECT CONTRAST BREAK_SEAL"),
    (1, "an agent seals for any purpose", "REQUESTS=1 TRIES=1 DIRECT BREAK_AGENT"),
    (1, "evidence counts before the prompt is shown", "REQUESTS=1 TRIES=1 BREAK_SHOWN"),
    (1, "a key is released before evidence", "REQUESTS=1 TRIES=1 BREAK_RELEASE_FIRST"),
    (4, "a guess is counted after it is compared", "REQUESTS=1 TRIES=1 BREAK_COUNT"),
    (5, "no deadline", "REQUESTS=1 TRIES=2 LIVE BREAK_DEADLINE"),
    (5, "messages are heard after the deadline", "REQUESTS=1 TRIES=2 LIVE BREAK_FLOODED"),
    (6, "the lock is not looked at again", "REQUESTS=1 TRIES=1 BREAK_RECHECK"),
    (1, "limit: authd changes the words of a prompt", "REQUESTS=1 TRIES=1 LIMIT_ALTERED"),
    (1, "limit: a finger meant for another prompt", "REQUESTS=2 TRIES=1 NONCES_EACH=2 FINGER LIMIT_FINGER"),
]


def build(definitions, folder, vector_bytes=1024):
    """Makes the verifier of one run; answers its path."""
    flags = ["-D" + word for word in definitions.split()]
    # Beside the files of the trace, which the model includes.
    shutil.copy(MODEL, folder)
    made = subprocess.run(["spin", *flags, "-a", os.path.basename(MODEL)], cwd=folder, capture_output=True, text=True)
    if made.returncode != 0 or not os.path.exists(os.path.join(folder, "pan.c")):
        sys.exit("spin: " + made.stdout + made.stderr)
    # Fairness and partial order reduction do not go together where processes meet.
    kind = ["-DNFAIR=2", "-DNOREDUCE"] if "LIVE" in definitions.split() else ["-DSAFETY"]
    subprocess.run(["gcc", "-O0" if re.search("REPLAY|BREAK|ONLY", definitions) else "-O2", "-w", "-DMEMLIM=%d" % MEGABYTES_MAX, "-DVECTORSZ=%d" % vector_bytes, "-DCOLLAPSE", *kind,
                    "-o", "pan", "pan.c"], cwd=folder, check=True)
    return os.path.join(folder, "pan")


def verify(definitions, folder, vector_bytes=1024):
    pan = build(definitions, folder, vector_bytes)
    live = ["-a", "-f"] if "LIVE" in definitions.split() else []
    # In a replay every branch but the one sought ends somewhere; only the end of the trace counts.
    replaying = ["-E"] if "REPLAY" in definitions.split() else []
    return subprocess.run([pan, *live, *replaying, "-m200000", "-w22"], cwd=folder, capture_output=True, text=True).stdout


def number(pattern, output):
    found = re.search(pattern, output)
    return float(found.group(1)) if found else -1


def check():
    failures = 0
    total = 0
    for name, definitions in SOUND:
        start = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            output = verify(definitions, folder)
        states = int(number(r"([0-9.e+]+) states, stored", output))
        sound = "errors: 0" in output and states > 0 and not re.search(r"max search depth too small|out of memory|reached -DMEMLIM", output)
        total += max(states, 0)
        failures += not sound
        print("%-6s %9d states  depth %3d  %4.0f MB  %5.1f s  %s" % (
            "holds" if sound else "FAILED", states, number(r"depth reached (\d+)", output), number(r"([0-9.]+)\ttotal actual", output),
            time.monotonic() - start, name), flush=True)
        if not sound:
            print(output)
    for promise, name, definitions in BROKEN:
        alone = "" if promise == 5 else "ONLY=%d " % promise
        with tempfile.TemporaryDirectory() as folder:
            output = verify(alone + definitions, folder)
        expected = "acceptance cycle" if promise == 5 else "assertion violated (broken!=%d)" % promise
        bites = expected in output
        failures += not bites
        print("%-6s property %d  %s" % ("seen" if bites else "FAILED", promise, name), flush=True)
        if not bites:
            print(output)
    print("%d runs of %d states in all hold; %d broken ones are seen" % (len(SOUND), total, len(BROKEN)))
    return failures


# ---- Replay ----

# A use of a private key is to the protocol what a read of an item is, and a change of credentials what an evaluation is: neither is about an
# item or takes a key of class A.
OPERATIONS = {"read": 1, "use": 1, "evaluate": 2, "change": 2, "unlock": 3}
ANSWERS = {"passcode": 3, "cancelled": 4, "fallback": 5, "nobody": 6, "seen": 4}
VERDICTS = {"matched": 7, "missed": 8}
OUTCOMES = {"accepted": 1, "failed": 2, "cancelled": 3, "expired": 4, "callerGone": 5, "refused": 6}
# What one request may make: three attempts of each method, and the prompts that are shown again.
NONCES_EACH = 9


class Malformed(Exception):
    pass


class Trace:
    """One file: what it says of each request, and its events in the model's numbers."""

    def __init__(self, text):
        self.requests = {}
        self.owner = {}
        self.tries = {}
        self.heard = set()
        # The recorder counts from 1, or from 0: what counts here is the order of first appearance.
        self.numbers = {}
        self.events = []
        for index, line in enumerate(text.splitlines(), 1):
            words = line.split()
            if words and not line.startswith("#"):
                try:
                    self.events.append((index, line, *self.event(*words)))
                except (KeyError, ValueError, TypeError) as why:
                    raise Malformed("line %d: %s (%s)" % (index, line, why))

    def nonce(self, word):
        return self.owner[word]

    def event(self, verb, *words):
        """The kind, its two numbers, and whom the untrusted ones act for meanwhile."""
        return getattr(self, "on_" + verb)(*words)

    def on_request(self, request, user, caller, operation, item):
        if request in self.numbers:
            raise ValueError("a request begins once")
        request = self.numbers.setdefault(request, len(self.numbers))
        self.requests[request] = (int(user), OPERATIONS[operation], int(caller), int(item))
        self.tries[request] = 0
        return 1, request, 0, -1

    def on_issue(self, nonce, request):
        request = self.numbers[request]
        if nonce in self.owner:
            raise ValueError("a nonce is issued once")
        # A try too many has a number that the model never gives.
        tried = self.tries[request]
        self.owner[nonce] = request * NONCES_EACH + tried if tried < NONCES_EACH else 254
        self.tries[request] = tried + 1
        return 2, self.owner[nonce], request, -1

    def on_ask(self, nonce): return 3, self.nonce(nonce), 0, -1
    def on_askreader(self, nonce): return 4, self.nonce(nonce), 0, -1
    def on_shown(self, request): return 5, self.numbers[request], 0, 1000 + self.numbers[request]

    def on_answer(self, nonce, kind):
        self.heard.add(nonce)
        return 6, self.nonce(nonce), ANSWERS[kind], self.nonce(nonce)

    def on_verdict(self, nonce, kind):
        self.heard.add(nonce)
        return 7, self.nonce(nonce), VERDICTS[kind], self.nonce(nonce)

    def on_use(self, nonce):
        # What a caller brings for an unlock comes without an event of its own.
        return 8, self.nonce(nonce), 0, -1 if nonce in self.heard else self.nonce(nonce)

    def on_count(self, user): return 9, int(user), 0, -1

    def on_evidence(self, nonce, way, judgment):
        return 10, self.nonce(nonce), {"passcode": 0, "finger": 2}[way] + {"wrong": 0, "right": 1}[judgment], -1

    def on_release(self, request, nonce): return 11, self.numbers[request], self.nonce(nonce), -1
    def on_lock(self, user): return 12, int(user), 0, -1
    def on_end(self, request, outcome): return 13, self.numbers[request], OUTCOMES[outcome], 2000 + self.numbers[request]

    def write(self, folder):
        people = [request[0] for request in self.requests.values()]
        with open(os.path.join(folder, "trace-requests.h"), "w") as file:
            for name, values in (("userOf", people), ("operationOf", [request[1] for request in self.requests.values()])):
                file.write("byte %s[REQUESTS] = { %s };\n" % (name, ", ".join(map(str, values))))
            file.write("#define PERSON(r) userOf[r]\n#define OPERATION(r) operationOf[r]\n")
        with open(os.path.join(folder, "trace-events.h"), "w") as file:
            file.write("c_decl { static int furthest; }\nproctype Trace() {\n")
            for index, (_, _, kind, first, second, due) in enumerate(self.events, 1):
                file.write("    due = %d; event ! %d, %d, %d; due = -1;\n" % (due, kind, first, second))
                file.write("    c_code { if (%d > furthest) { furthest = %d; printf(\"furthest %%d\\n\", furthest); } };\n" % (index, index))
            file.write("    ended = true; assert(!ended)\n}\n")


def replay(path, broken=None):
    """Nil when the file is a run of the model, else where it stops being one."""
    with open(path) as file:
        try:
            trace = Trace(file.read())
        except Malformed as why:
            return "it is no trace: %s" % why
    if not trace.events:
        return "it is empty"
    people = max([request[0] for request in trace.requests.values()] + [0]) + 1
    definitions = "REPLAY DIRECT FINGER REQUESTS=%d NONCES_EACH=%d PEOPLE=%d" % (len(trace.requests), NONCES_EACH, people)
    with tempfile.TemporaryDirectory() as folder:
        trace.write(folder)
        output = verify(definitions + (" " + broken if broken else ""), folder, vector_bytes=16384)
    if re.search(r"assertion violated +!\(? *ended *\)?", output):
        return None
    if "errors: 0" not in output:
        return "the replay broke off: " + output
    reached = int(max([0] + [int(found) for found in re.findall(r"^furthest (\d+)", output, re.M)]))
    index, line = trace.events[min(reached, len(trace.events) - 1)][:2]
    return "line %d, \"%s\", is no step of the model there" % (index, line)


def main(arguments):
    if arguments[:1] == ["check"]:
        return 1 if check() else 0
    if arguments[:1] == ["replay"]:
        files = arguments[1:]
        broken = None
        if files[:1] == ["--with"]:
            broken, files = files[1], files[2:]
        status = 0
        for path in files:
            why = replay(path, broken)
            print("%s: %s" % (os.path.basename(path), "a run of the model" if why is None else why), flush=True)
            status |= why is not None
        return status
    print(__doc__, file=sys.stderr)
    return 64


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
