/*
 * A circle of devices (Specs/sync.md): how a device joins, and what its removal ends.
 *
 * Cryptography is symbolic. The carrier is the attacker: it has all that was ever written, and shows each device, in each of its runs, as much of it
 * as it likes. It has a device of its own, E, with keys. In REMOVAL the member R works with it and signs what it likes.
 *
 * Chosen by -D: JOINING, RECOVERY, REMOVAL or OUTSIDE (as REMOVAL, with no malicious member); ONLY (one property); one of the BREAK_ names below; and
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

#elif defined(RECOVERY)
/* ---- Joining by the recovery key ----
 * A is an honest member, whose user makes recovery keys, removes R, and ends a key. N is the device with which the user joins by the newest one;
 * R was a member when the first could be made. Once a key has ended for A, the attacker finds its paper; with -DSTOLEN, also before.
 * A statement has besides the one that made its recovery key, plus one; 0 if it has none.
 */
#define A 0
#define N 1
#define R 2
#define E 3
#define K 4                   /* the signer that is the recovery key */
#define THEIRS 12             /* R and E, as bits */
#ifndef STATEMENTS
#define STATEMENTS 5
#endif

#ifdef BREAK_PROOF            /* a statement without a proof leads the new device into its circle */
#define UNPROVEN true
#else
#define UNPROVEN false
#endif
#ifdef BREAK_END              /* a key that ends leaves the circle key as it is */
#define KEPT true
#else
#define KEPT false
#endif
#ifdef BREAK_USED             /* a key that ended still signs */
#define VALID true
#else
#define VALID false
#endif
#ifdef STOLEN
#define EARLIER true
#else
#define EARLIER false
#endif
#ifdef BREAK_MORE             /* a statement by the key may do anything */
#define MORE true
#else
#define MORE false
#endif

byte before[STATEMENTS], signer[STATEMENTS], members[STATEMENTS], keyOf[STATEMENTS], maker[STATEMENTS];
byte byKey[STATEMENTS];       /* the recovery key that signed it */
bool proven[STATEMENTS];      /* it has the proof of a key that the user made */
bool known[STATEMENTS];       /* circle keys that the attacker has */
bool found[STATEMENTS + 1];   /* recovery keys that the attacker has */
byte statements;
byte now;                     /* the statement that A has followed last */
byte paper;                   /* the newest key of the user */
bool joined;

#define HAS(s, d) (members[s] >> (d) & 1)

/* Those of the attacker among the members get the key, and the holder of the recovery key does. */
#define READ(s) known[keyOf[s]] = known[keyOf[s]] || (members[s] & THEIRS) || (maker[s] && found[maker[s]])

inline state(byWhom, base, rolled, who, made) {
    before[statements] = base; signer[statements] = byWhom; members[statements] = who; maker[statements] = made;
    keyOf[statements] = (rolled -> statements : keyOf[base]);
    READ(statements);
    statements++
}

proctype Member() {
    byte s;
end:
    do
    :: atomic { statements < STATEMENTS ->        /* a key, in place of an earlier one */
            state(A, now, (maker[now] && !KEPT), members[now], statements + 1);
            now = statements - 1; proven[now] = true; paper = now + 1 }
    :: atomic { statements < STATEMENTS && maker[now] ->
            state(A, now, !KEPT, members[now], 0); now = statements - 1 }
    :: atomic { statements < STATEMENTS && (members[now] & THEIRS) ->
            state(A, now, true, (members[now] & ~THEIRS), maker[now]); now = statements - 1 }
    :: atomic {
            s = 1;
            do
            :: s < statements && before[s] == now && signer[s] != A &&
                (signer[s] == K -> ((maker[now] && byKey[s] == maker[now]) || VALID) : HAS(now, signer[s])) -> break
            :: s < statements -> s++
            :: s >= statements -> break
            od;
            if
            :: s < statements && HAS(s, A) && (signer[s] != K || MORE || (keyOf[s] != keyOf[now] || KEPT) && !maker[s] && !(members[now] & ~members[s])) ->
                /* Who has the paper before it ends joins with it: that is what it is for. */
                promise(1, !HAS(s, E) || HAS(now, E) || signer[s] == R || EARLIER && signer[s] == K);
                promise(6, signer[s] != K || !(members[now] & ~members[s]));
                now = s
            :: else
            fi;
#ifdef REACH_RECOVERED
            assert(!(HAS(now, N) && !HAS(now, R)));
#endif
            s = 0 }
    /* A writes. */
    :: atomic { true -> promise(2, (members[now] & THEIRS) || !known[keyOf[now]] || EARLIER && maker[now]) }
    od
}

/* The user joins by the newest key, on what the carrier shows. */
proctype New() {
    byte a, s, t;
    atomic {
        paper && statements < STATEMENTS ->
        do
        :: maker[a] == a + 1 && (proven[a] && paper == a + 1 || UNPROVEN && !proven[a]) -> break
        :: a + 1 < statements -> a++
        :: a + 1 >= statements -> a = STATEMENTS; break
        od;
        if
        :: a < STATEMENTS ->
            s = a; t = 0;
            do
            :: t < statements && t != s && before[t] == s && HAS(s, signer[t]) && signer[t] != K && maker[t] == maker[a] -> s = t; t = 0
            :: t < statements -> t++
            :: t >= statements -> break
            od;
            state(K, s, true, (members[s] | 1 << N), 0);
            byKey[statements - 1] = maker[s];
            joined = true;
            promise(5, !known[statements - 1] || (proven[a] && (members[a] & THEIRS)))
        :: else
        fi
    }
}

/* R, as long as a statement has it among the members; whoever invents a circle; and whoever finds the paper of a key that has ended. */
proctype Attacker() {
    byte s, base;
end:
    do
    :: atomic {
            statements < STATEMENTS ->
            base = 0;
            do :: base + 1 < statements -> base++ :: break od;
            if
            :: HAS(base, R) ->
                if
                :: state(R, base, false, (members[base] | 1 << E), maker[base])
                :: state(R, base, true, (1 << E), maker[base])
                :: state(R, base, true, members[base], statements + 1)
                fi
            :: state(E, base, true, THEIRS, statements + 1)
            :: maker[base] && found[maker[base]] ->
                if
                :: state(K, base, true, (members[base] | 1 << E), 0)
                :: state(K, base, true, (1 << A | 1 << E), 0)
                fi;
                byKey[statements - 1] = maker[base]
            :: VALID && base == now && found[1] + found[2] + found[3] + found[4] > 0 ->
                state(K, base, true, (members[base] | 1 << E), 0); byKey[statements - 1] = 1
            :: else
            fi;
            s = 0; base = 0 }
    :: atomic {
            s = 1;
            do :: s + 1 <= statements -> s++ :: break od;
            if
            :: s <= STATEMENTS && proven[s - 1] && (maker[now] != s || EARLIER) && !found[s] ->
                found[s] = true; base = 0;
                do :: base < statements -> READ(base); base++ :: base >= statements -> break od
            :: else
            fi;
            s = 0; base = 0 }
    od
}

init {
    atomic {
        members[0] = 1 << A | 1 << R; known[0] = true; statements = 1;
        run Member(); run New(); run Attacker()
    }
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
