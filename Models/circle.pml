/*
 * A circle of devices (Specs/sync.md): how a device joins, and what its removal ends.
 *
 * Cryptography is symbolic. The carrier is the attacker: it has all that was ever written, and shows each device, in each of its runs, as much of it
 * as it likes. It has a device of its own, E, with keys. In REMOVAL the member R works with it and signs what it likes.
 *
 * Chosen by -D: JOINING, REMOVAL or OUTSIDE (as REMOVAL, with no malicious member); ONLY (one property); one of the BREAK_ names below; and
 * REACH_ (an end that must be reachable, whose assertion fails there).
 */

byte broken;
#ifdef ONLY
#define promise(k, c) if :: (k == ONLY && !(c)) -> broken = k; assert(broken != k) :: else fi
#else
#define promise(k, c) if :: !(c) -> broken = k; assert(broken != k) :: else fi
#endif

#ifdef JOINING
/* ---- Joining ----
 * The new device N and the member M are honest, and so is the user, who types at M the code that N shows. In the middle, the attacker gives N an
 * answer as a member, with a nonce a, and M a commitment and a request as a new device, with a nonce b. The codes are hashes of both transcripts.
 * They are the same by chance once in a million, which is left out here, or if the attacker chooses its last nonce when it knows all the others:
 * then it searches for one.
 */
#ifdef BREAK_COMMITMENT       /* M answers without a commitment */
#define UNBOUND true
#else
#define UNBOUND false
#endif
#ifdef BREAK_REVEAL_FIRST     /* N reveals its nonce before there is an answer */
#define EARLY true
#else
#define EARLY false
#endif
#ifdef BREAK_REVEAL_TWICE     /* N reveals its one nonce for another answer too */
#define ANSWERS 2
#else
#define ANSWERS 1
#endif
#ifdef BREAK_TYPED            /* the user says yes to M without a code */
#define UNCOMPARED true
#else
#define UNCOMPARED false
#endif

bool middle;                 /* the attacker put itself between; otherwise it passes on what it gets */
bool aChosen, bChosen;       /* its nonces */
bool nKnown, mKnown;         /* the honest nonces that it has seen */
bool same;                   /* the codes of both transcripts are the same */
byte answered, revealed;     /* answers that N has got, and for how many it revealed */
bool requested;              /* M has the request */

active proctype Attacker() {
    if :: middle = true :: middle = false fi;
    do
    :: atomic { !aChosen || (answered < ANSWERS && revealed == answered) ->
            aChosen = true; answered++; same = middle && bChosen && nKnown && mKnown }
    :: atomic { !bChosen && (!mKnown || UNBOUND) -> bChosen = true; same = middle && aChosen && nKnown && mKnown }
    :: atomic { bChosen && mKnown && !requested -> requested = true }
    :: requested && revealed > 0 -> break
    od
}

active proctype New() {
    do
    :: atomic { revealed < answered || (EARLY && revealed == 0) -> nKnown = true; if :: revealed < answered -> revealed++ :: else fi }
    od
}

active proctype Member() {
    atomic { (bChosen || UNBOUND) -> mKnown = true }
    /* The user looks at N, which shows a code once it has revealed. */
    atomic { requested && revealed > 0 && revealed == answered ->
        if
        :: !middle ->
#ifdef REACH_JOINED
            assert(false)
#else
            skip
#endif
        :: middle && (same || UNCOMPARED) -> promise(1, false)     /* M admits the attacker's keys */
        :: middle && !same && !UNCOMPARED -> skip
        fi }
}

#else
/* ---- Removal ----
 * A and B are honest; R is removed, and works with the carrier; E is the carrier's own device.
 * A statement has the one before it, an epoch, who signed it, its members, and its key, which is named after the statement that made it.
 */
#define A 0
#define B 1
#define R 2
#define E 3
#define THEIRS 12             /* R and E, as bits */
#ifndef STATEMENTS
#define STATEMENTS 4
#endif
#define FILES 2               /* of each honest device */

#ifdef BREAK_ROLL             /* a removal keeps the key */
#define KEPT true
#else
#define KEPT false
#endif
#ifdef BREAK_SIGNER           /* anybody's statement is followed */
#define UNSIGNED true
#else
#define UNSIGNED false
#endif
#ifdef BREAK_UNKNOWN          /* a file under a later key does not keep a device from writing */
#define GOES_ON true
#else
#define GOES_ON false
#endif
#ifdef BREAK_FORKED           /* nor does one that a member signed, under another key of the same epoch */
#define FORKED_GOES_ON true
#else
#define FORKED_GOES_ON false
#endif

byte before[STATEMENTS], epoch[STATEMENTS], signer[STATEMENTS], members[STATEMENTS], keyOf[STATEMENTS];
bool known[STATEMENTS];       /* keys that the attacker has */
byte statements;
byte now[2];                  /* the statement that A and B have followed last */
bool removed[2];              /* it has followed a removal of R */
bool gone[2];                 /* it was removed itself */
byte fileKey[4], fileEpoch[4], written[2];
bool fileAfter[4];            /* its writer had followed a removal of R */
byte accepted[2];             /* files of the other one that A and B have read */

#define HAS(s, d) (members[s] >> (d) & 1)

inline state(s, byAnybody, base, rolled) {
    s = statements;
    before[s] = base; signer[s] = byAnybody;
    epoch[s] = epoch[base] + rolled;
    keyOf[s] = (rolled -> s : keyOf[base]);
    statements++
}

/* A run of an honest device: it follows statements, reads, and writes unless it must not. Each loop ends where the carrier wants. */
inline run_of(d) {
    atomic {
        (!gone[d]) -> behind = false; newer = false;
        do
        :: s = 1;
            do
            :: s < statements && before[s] == now[d] && (HAS(now[d], signer[s]) || UNSIGNED) -> break
            :: s < statements -> s++
            :: s >= statements -> break
            od;
            if
            :: s < statements && HAS(s, d) && signer[s] != d ->
                /* It compares the key with those that it knows: a removal has a new one. */
                if :: removed[d] && HAS(s, R) -> promise(4, false) :: else fi;
                now[d] = s;
                if :: !HAS(s, R) -> removed[d] = true :: else fi;
                promise(1, !HAS(s, E) || signer[s] == R)
            :: s < statements && !HAS(s, d) -> gone[d] = true; break
            :: s >= statements || signer[s] == d -> break
            fi
        :: break
        od;
        do
        :: !gone[d] && HAS(now[d], 1 - d) && accepted[d] < written[1 - d] && !behind ->
            f = (1 - d) * FILES + accepted[d];
            if :: fileAfter[f] && HAS(now[d], R) -> newer = true :: else fi;
            s = now[d];
            do :: epoch[s] > fileEpoch[f] -> s = before[s] :: else -> break od;
            if
            :: fileEpoch[f] > epoch[now[d]] -> behind = !GOES_ON; break
            :: fileEpoch[f] <= epoch[now[d]] && keyOf[s] == fileKey[f] -> accepted[d]++
            :: fileEpoch[f] <= epoch[now[d]] && keyOf[s] != fileKey[f] -> behind = !FORKED_GOES_ON; break
            fi
        :: break
        od;
        if
        :: !gone[d] && !behind && written[d] < FILES ->
            promise(2, (members[now[d]] & THEIRS) || !known[keyOf[now[d]]]);
            promise(3, !newer || !known[keyOf[now[d]]]);
            f = d * FILES + written[d];
            fileKey[f] = keyOf[now[d]]; fileEpoch[f] = epoch[now[d]]; fileAfter[f] = removed[d];
            written[d]++
        :: true
        fi;
#ifdef REACH_REMOVED
        assert(!(removed[A] && removed[B] && accepted[A] > 0 && accepted[B] > 0 && fileAfter[0] && fileAfter[FILES]));
#endif
#ifdef REACH_NOTICED
        assert(!(behind && newer));
#endif
        s = 0; f = 0; behind = false; newer = false
    }
}

/* The user removes R on an honest device, and E if it was admitted. */
inline removal_by(d) {
    atomic {
        (!gone[d] && statements < STATEMENTS && (members[now[d]] & THEIRS)) ->
        state(s, d, now[d], !KEPT);
        members[s] = members[now[d]] & ~THEIRS;
        known[s] = false;
        now[d] = s; removed[d] = true;
        s = 0
    }
}

proctype Honest(byte d) {
    byte s, f;
    bool behind, newer;
end:
    do
    :: run_of(d)
    :: removal_by(d)
    od
}

/* R, as long as a statement has it among the members; and anybody, whose signature counts nowhere. */
proctype Attacker() {
    byte s, base;
end:
    do
    :: atomic {
            statements < STATEMENTS ->
            base = 0;
            do :: base + 1 < statements -> base++ :: break od;
#ifndef OUTSIDE
            if
            :: HAS(base, R) ->
                if
                :: state(s, R, base, 0); members[s] = members[base] | 1 << E
                :: state(s, R, base, 1); members[s] = members[base] | 1 << E; known[s] = true
                :: state(s, R, base, 1); members[s] = members[base] & ~(1 << A); known[s] = true
                :: state(s, R, base, 1); members[s] = members[base] & ~(1 << B); known[s] = true
                fi
            :: !HAS(base, R) -> state(s, E, base, 1); members[s] = members[base] | THEIRS; known[s] = true
            fi;
#else
            state(s, E, base, 1); members[s] = members[base] | 1 << E; known[s] = true;
#endif
            s = 0; base = 0
        }
    od
}

init {
    atomic {
        epoch[0] = 1; members[0] = 7; keyOf[0] = 0; statements = 1;
#ifdef OUTSIDE
        known[0] = false;
#else
        known[0] = true;
#endif
        run Honest(A); run Honest(B); run Attacker()
    }
}
#endif
