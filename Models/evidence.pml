/*
 * The evidence protocol (Specs/evidence-protocol.md): how a key or a yes leaves the enclave, and why only for the user.
 *
 * Cryptography is symbolic. The network, authd and every other program are one attacker: what was said once it may say again, to
 * whom it likes, as often as it likes, or never. So no message is ever "in flight": the attacker's knowledge is the network.
 *
 * A request r owns the nonces r*NONCES_EACH ... r*NONCES_EACH + NONCES_EACH - 1, in the order in which it makes them.
 *
 * Chosen by -D: REQUESTS, TRIES, NONCES_EACH, CONTRAST, STRANGERS, DIRECT (unlocks that ask nobody), FINGER, ONLY (one property),
 * LIVE (property 5), REPLAY (a recorded trace decides, evidence.py), and one of the BREAK_ and LIMIT_ names below.
 */

#ifndef REQUESTS
#define REQUESTS 2
#endif
#ifndef TRIES
#define TRIES 3
#endif
#ifndef NONCES_EACH
#define NONCES_EACH TRIES
#endif
#ifdef REPLAY
#define NONCES (REQUESTS * NONCES_EACH)
#else
#define NONCES 6             /* of which REQUESTS * NONCES_EACH can be issued */
#endif
#ifndef PEOPLE
#define PEOPLE 2
#endif
#define NEVER 255

/* Operations. A direct unlock is the request whose passcode the caller itself brings: nobody is asked. */
#define READ 1
#define EVALUATE 2
#define UNLOCK 3

/* What a message to the enclave carries. The first three are seals that the attacker saw and can only pass on. */
#define SEALED_FOR_PROMPT 1
#define SEALED_FOR_UNLOCK 2
#define GUESS 3      /* the attacker's own seal of a wrong passcode, for the nonce that it names */
#define CANCELLED 4
#define FALLBACK 5
#define NOBODY 6
#define MATCHED 7    /* a verdict of the reader: its code covers the nonce */
#define MISSED 8
#define SHOWN_THERE 9

/* Ways, as bits. */
#define PASSCODE 1
#define FINGER_WAY 2
#define EITHER 4
#define BOTH 3

/* Outcomes. */
#define ACCEPTED 1
#define FAILED 2
#define CANCELLED_END 3
#define EXPIRED 4
#define CALLER_GONE 5
#define REFUSED 6

/* ---- Properties: the number is that of the specification; ONLY checks one alone. ---- */

byte broken;
#ifdef REPLAY
#define promise(k, c) skip
#else
#ifdef ONLY
#define promise(k, c) if :: (k == ONLY && !(c)) -> broken = k; assert(broken != k) :: else fi
#else
#define promise(k, c) if :: !(c) -> broken = k; assert(broken != k) :: else fi
#endif
#endif

/* ---- Observable events. In a replay the trace has to offer the event; otherwise only its condition counts. ---- */

#define E_REQUEST 1
#define E_ISSUE 2
#define E_ASK 3
#define E_ASKREADER 4
#define E_SHOWN 5
#define E_ANSWER 6
#define E_VERDICT 7
#define E_USE 8
#define E_COUNT 9
#define E_EVIDENCE 10
#define E_RELEASE 11
#define E_LOCK 12
#define E_END 13

#ifdef REPLAY
chan event = [0] of { byte, byte, byte };
short due = -1;              /* whom the next event of the trace is about: the untrusted ones act for no other */
#define SEE_IF(kind, condition, a, b) event ? kind, eval(((condition) -> (a) : NEVER)), eval((b))
#define IS_DUE(x) (due == (x))
#else
#define SEE_IF(kind, condition, a, b) (condition)
#define IS_DUE(x) (true)
#endif
#define SEE(kind, a, b) SEE_IF(kind, true, a, b)
#define THE_SHOWING_OF(r) (1000 + (r))
#define THE_END_OF(r) (2000 + (r))

/* ---- What a broken enclave leaves out; each must make its property fail. ---- */

#ifdef BREAK_BINDING          /* a prompt takes an answer to any nonce of the user */
#define ANY_NONCE true
#else
#define ANY_NONCE false
#endif
#ifdef BREAK_VERDICT          /* a reader's verdict counts for whatever prompt it is brought to */
#define VERDICT_UNBOUND true
#else
#define VERDICT_UNBOUND false
#endif
#ifdef BREAK_USED_UP          /* a nonce stays open after a try with it */
#define KEPT_OPEN true
#else
#define KEPT_OPEN false
#endif
#ifdef BREAK_WITHDRAWN        /* a prompt that ends leaves its nonce open */
#define LEFT_OPEN true
#else
#define LEFT_OPEN false
#endif
#ifdef BREAK_PURPOSE          /* any open nonce serves any purpose */
#define NO_PURPOSE true
#else
#define NO_PURPOSE false
#endif
#ifdef BREAK_SEAL             /* a seal opens whatever nonce and purpose it was made for */
#define NO_SEAL_BINDING true
#else
#define NO_SEAL_BINDING false
#endif
#ifdef BREAK_PERSON           /* any user's open nonce serves */
#define NO_PERSON true
#else
#define NO_PERSON false
#endif
#ifdef BREAK_SHOWN            /* evidence is taken though nobody reported the prompt as shown */
#define NO_SHOWN true
#else
#define NO_SHOWN false
#endif
#ifdef BREAK_COUNT            /* a guess may be compared before it is counted */
#define COUNT_LATE true
#else
#define COUNT_LATE false
#endif
#ifdef BREAK_RECHECK          /* the lock is not looked at again after the user answered */
#define NO_RECHECK true
#else
#define NO_RECHECK false
#endif
/* BREAK_RELEASE_FIRST: a key leaves before evidence. BREAK_FLOODED: messages are heard though the time is over.
   BREAK_DEADLINE: no time is ever over. BREAK_AGENT: an agent seals for whatever purpose the prompt names.
   LIMIT_ALTERED: authd changes the words of a prompt. LIMIT_FINGER: a finger must be meant for that very prompt.
   SEAL_COVERS_QUESTION: with LIMIT_ALTERED, what would mend it. */

/* ---- State ---- */

#ifdef REPLAY
#include "trace-requests.h"  /* PERSON and OPERATION of each request of the trace */
#else
#ifdef STRANGERS             /* each request is of another user; otherwise two callers of one, and a third of another */
#define PERSON(r) (r)
#else
#define PERSON(r) ((r) == 2 -> 1 : 0)
#endif
#define OPERATION(r) operation[r]
byte operation[REQUESTS];
#ifdef CONTRAST              /* only what differs: one reads, the others do not */
#define MAY_BE(r, o) ((r == 0) == (o == READ))
#else
#define MAY_BE(r, o) true
#endif
#endif

#define OWNER(n) ((n) / NONCES_EACH)
#define NEXT_NONCE (me * NONCES_EACH + made)
/* The list of open challenges has it, for this user and purpose. */
#define USABLE (open[claimed] && (direct[OWNER(claimed)] == direct[me] || NO_PURPOSE) && (SAME_PERSON(OWNER(claimed), me) || NO_PERSON))
/* The seal was made for this nonce and for the purpose that the enclave opens it for. */
#define SEAL_OPENS (NO_SEAL_BINDING || (sealedFor == claimed && (form == SEALED_FOR_UNLOCK) == direct[me]))
#define FORGET claimed = NEVER; sealedFor = NEVER; form = 0; counted = false; right = false
/* A prompt's nonces are withdrawn with it. One that a caller fetched for an unlock stays until it is used or too old. */
#define WITHDRAW \
    if :: n != NEVER && !direct[me] && !LEFT_OPEN -> open[n] = false :: else fi; \
    if :: f != NEVER -> open[f] = false :: else fi; \
    promise(2, n == NEVER || direct[me] || !open[n])
#define SAME_PERSON(a, b) (PERSON(a) == PERSON(b))

bool live[REQUESTS];         /* from the request to its end */
bool direct[REQUESTS];       /* an unlock by a passcode that the caller brings */
bool told[REQUESTS];         /* authd reported that the prompt is shown */
byte current[REQUESTS];      /* the nonce of the present try */
bool late[REQUESTS];         /* the user's time is over */
bool locked[PEOPLE];

bool issued[NONCES];
bool open[NONCES];           /* the enclave takes evidence for it */
bool asked[NONCES];          /* the prompt left the enclave: the attacker knows it */
bool atReader[NONCES];
byte uses[NONCES];

/* What people made. The attacker sees each as soon as it exists. */
bool promptSeal[NONCES];     /* the right passcode, sealed for this nonce by an agent */
bool unlockSeal[NONCES];     /* the same, sealed by a program that unlocks */
bool matched[NONCES];        /* the reader's verdict: matched, for this nonce */
bool altered[NONCES];        /* that seal of an agent was made under other words than the enclave's */
bool misled[NONCES];         /* that seal for an unlock was made by an agent, under a prompt */
bool stray[NONCES];          /* that touch was meant for another prompt */

/* One channel for each request; one that nobody reads, for what cannot be sent now; and one that nobody writes. */
chan wire[REQUESTS + 2] = [0] of { byte, byte, byte };
#define VOID REQUESTS
#define DEAF (REQUESTS + 1)
/* A request whose time is over looks at that before any message. */
#ifdef BREAK_FLOODED
#define HEARD(r) r
#else
#define HEARD(r) (late[r] -> DEAF : r)
#endif

/* ---- The enclave: one thread a request ---- */

proctype Request(byte me) {
    byte n = NEVER, f = NEVER;   /* the nonce that a passcode has to name, and the one that a finger has to */
    byte claimed = NEVER, sealedFor = NEVER, form, made, wrong, misses, have, need, outcome;
    bool counted, right;

    /* The request. Evidence is asked for only where the class is open now. */
#ifdef REPLAY
    atomic {
        event ? E_REQUEST, eval(me), _;
        live[me] = true;
        if :: OPERATION(me) == UNLOCK -> direct[me] = true :: true fi
    }
#else
    atomic {
        if
        :: MAY_BE(me, READ) -> operation[me] = READ
        :: MAY_BE(me, EVALUATE) -> operation[me] = EVALUATE
#ifdef DIRECT
        :: MAY_BE(me, UNLOCK) -> operation[me] = UNLOCK; direct[me] = true
#endif
#ifdef FINGER
        :: MAY_BE(me, UNLOCK) -> operation[me] = UNLOCK
#endif
        fi;
        live[me] = true
    }
#endif
    if
    :: atomic { OPERATION(me) == READ && locked[PERSON(me)] -> outcome = REFUSED; goto ending }
    :: atomic { (OPERATION(me) != READ || !locked[PERSON(me)]) && !direct[me] -> need = EITHER }
#ifdef FINGER
    :: atomic { OPERATION(me) == READ && !locked[PERSON(me)] -> need = BOTH }
#endif
    :: atomic { direct[me] -> need = PASSCODE }
    fi;

asking: /* Another challenge; the one before is worth nothing any more. */
    if
    :: atomic {
            SEE_IF(E_ISSUE, made < NONCES_EACH && wrong < TRIES, NEXT_NONCE, me) ->
            if :: n != NEVER && !LEFT_OPEN -> open[n] = false :: else fi;
            n = NEXT_NONCE; current[me] = n; made++;
            issued[n] = true; open[n] = true
        }
    :: atomic { made >= NONCES_EACH || wrong >= TRIES -> outcome = FAILED; goto ending }
#ifdef REPLAY
    :: atomic { IS_DUE(THE_END_OF(me)) -> outcome = FAILED; goto ending }
#endif
    fi;

waiting:
    do
    :: atomic { SEE_IF(E_ASK, !direct[me] && !asked[n], n, 0) -> asked[n] = true }
#ifdef FINGER
    /* A finger is looked for only while the prompt is shown. */
    :: atomic {
            SEE_IF(E_ISSUE, !direct[me] && asked[n] && (told[me] || NO_SHOWN) && f == NEVER && made < NONCES_EACH && misses < TRIES,
                NEXT_NONCE, me) ->
            f = NEXT_NONCE; made++; issued[f] = true; open[f] = true;
            SEE(E_ASKREADER, f, 0) -> atReader[f] = true
        }
    /* The reader goes, or fingers do not count any more: the prompt is shown again, for a passcode. */
    :: atomic { (f != NEVER || misses > 0) && made < NONCES_EACH && IS_DUE(-1) ->
            if :: f != NEVER -> open[f] = false; f = NEVER :: else fi; misses = TRIES; goto asking }
#endif
    :: atomic { wire[HEARD(me)] ? form, claimed, sealedFor ->
            if
            :: form == SHOWN_THERE -> SEE(E_SHOWN, me, 0)
            :: form == MATCHED || form == MISSED -> SEE(E_VERDICT, claimed, form)
            :: form < MATCHED && !direct[me] -> SEE(E_ANSWER, claimed, (form < GUESS -> GUESS : form))
            :: form < MATCHED && direct[me] -> skip
            fi;
            if
            :: form == SHOWN_THERE -> told[me] = true; form = 0; claimed = NEVER; sealedFor = NEVER
            :: (form == CANCELLED || form == FALLBACK) && claimed == n -> outcome = CANCELLED_END; goto ending
            :: form == NOBODY && claimed == n -> outcome = FAILED; goto ending
            :: (form == MATCHED || form == MISSED) && f != NEVER && (claimed == f || VERDICT_UNBOUND) -> claimed = f; break
            :: form < CANCELLED && (direct[me] || told[me] || NO_SHOWN) &&
                (claimed == n || direct[me] || (ANY_NONCE && !direct[OWNER(claimed)])) -> break
            /* Anything else is of another try or another prompt, and is not heard. */
            :: else -> form = 0; claimed = NEVER; sealedFor = NEVER
            fi }
#ifdef BREAK_RELEASE_FIRST
    :: atomic { asked[n] -> claimed = n; goto accepting }
#endif
#ifdef LIVE
    :: atomic { late[me] -> outcome = EXPIRED; goto ending }
#else
    /* Whoever asked is gone, authd is gone, or the time is over: at any moment. */
    :: atomic { IS_DUE(THE_END_OF(me)) -> outcome = CALLER_GONE; goto ending }
#ifdef REPLAY
    :: atomic { IS_DUE(THE_END_OF(me)) -> outcome = EXPIRED; goto ending }
    :: atomic { IS_DUE(THE_END_OF(me)) -> outcome = FAILED; goto ending }
    :: atomic { IS_DUE(THE_END_OF(me)) -> outcome = REFUSED; goto ending }
#endif
#endif
    od;

    /* The nonce is used up, whatever comes of it. */
    if
    :: atomic { form >= MATCHED ->
            right = (form == MATCHED);
            open[claimed] = KEPT_OPEN; uses[claimed]++;
            f = (KEPT_OPEN -> f : NEVER);
            promise(2, uses[claimed] <= 1);
            promise(3, OWNER(sealedFor) == me || form == MISSED);
            goto compare
        }
    :: atomic {
            SEE_IF(E_USE, form < MATCHED && USABLE, claimed, 0) ->
            open[claimed] = KEPT_OPEN; uses[claimed]++;
            promise(2, uses[claimed] <= 1);
            /* Who, for what, on which item. An unlock is the user's, whichever of their programs brings it. */
            promise(3, SAME_PERSON(OWNER(claimed), me) && OPERATION(OWNER(claimed)) == OPERATION(me));
            promise(3, direct[OWNER(claimed)] == direct[me] && (direct[me] || OWNER(claimed) == me))
        }
    :: atomic { form < MATCHED && !USABLE -> outcome = REFUSED; goto ending }
    fi;
    if
    :: atomic { form == GUESS -> skip }
    /* Another user's passcode is a wrong one. */
    :: atomic { form < GUESS && SEAL_OPENS -> right = SAME_PERSON(OWNER(sealedFor), me) }
    :: atomic { form < GUESS && !SEAL_OPENS -> outcome = REFUSED; goto ending }
    fi;
    if
    :: atomic { SEE(E_COUNT, PERSON(me), 0) -> counted = true }
    :: COUNT_LATE -> skip
    fi;

compare:
    atomic {
        SEE(E_EVIDENCE, claimed, (form >= MATCHED -> 2 : 0) + right) ->
        promise(4, counted || form >= MATCHED);
        if
        :: right && form < MATCHED -> have = have | PASSCODE
        :: right && form >= MATCHED -> have = have | FINGER_WAY
        :: !right && form < MATCHED -> wrong++
        :: !right && form >= MATCHED -> misses++
        fi
    }
    if
    :: atomic { right && (need == EITHER || (have & need) == need) }
    :: atomic { right && need != EITHER && (have & need) != need -> FORGET; goto asking }
    :: atomic { !right && form >= MATCHED -> FORGET; goto waiting }
    :: atomic { !right && form < MATCHED && !direct[me] -> FORGET; goto asking }
    :: atomic { !right && form < MATCHED && direct[me] -> outcome = FAILED; goto ending }
    fi;

accepting: /* The prompt is over; the device may have been locked meanwhile, which wins. */
    atomic { SEE(E_END, me, ACCEPTED) -> WITHDRAW }
    if
    :: atomic {
            SEE_IF(E_RELEASE, OPERATION(me) != READ || !locked[PERSON(me)] || NO_RECHECK, me, claimed) ->
            promise(1, right && (direct[me] || (OWNER(claimed) == me && told[me])));
            /* The user made it for this very try, under the enclave's own words. */
            promise(1, form != SEALED_FOR_PROMPT || (sealedFor == claimed && !direct[me] && !altered[claimed]));
            promise(1, form != SEALED_FOR_UNLOCK || (sealedFor == claimed && direct[me] && !misled[claimed]));
            promise(1, form != MATCHED || (sealedFor == claimed && !stray[claimed]));
            promise(6, OPERATION(me) != READ || !locked[PERSON(me)]);
            if :: OPERATION(me) == UNLOCK -> locked[PERSON(me)] = false :: else fi;
            live[me] = false
        }
    :: atomic { OPERATION(me) == READ && locked[PERSON(me)] -> live[me] = false }
    fi;
    goto ended;

ending:
    atomic { SEE(E_END, me, outcome) -> WITHDRAW; live[me] = false }
ended:
    skip
}

/* ---- The attacker: the network, authd, every program that is not named trusted. It knows what was said. ---- */

/* It sends to request r what it has, if it has it. */
#define SEND_IF(condition, r, form, claimed, m) :: wire[(live[r] && current[r] != NEVER && (condition) -> r : VOID)] ! form, claimed, m

#ifdef REPLAY
#define EACH_NONCE(what) what(due)
#define KNOWN(array, n) (n >= 0 && n < NONCES && array[(n >= 0 && n < NONCES -> n : 0)])
#else
#define EACH_NONCE(what) what(0) what(1) what(2) what(3) what(4) what(5)
#define KNOWN(array, n) array[n]
#endif

/* Passed on as it was said, or put under the nonce of the present try. A verdict carries its nonce under its code. */
#define PASS_ON(m) \
    SEND_IF(KNOWN(promptSeal, m), r, SEALED_FOR_PROMPT, m, m) \
    SEND_IF(KNOWN(unlockSeal, m), r, SEALED_FOR_UNLOCK, m, m) \
    SEND_IF(KNOWN(promptSeal, m) && m != current[r], r, SEALED_FOR_PROMPT, current[r], m) \
    SEND_IF(KNOWN(unlockSeal, m) && m != current[r], r, SEALED_FOR_UNLOCK, current[r], m)
#define PASS_ON_VERDICT(m) \
    SEND_IF(KNOWN(matched, m), r, MATCHED, m, m) \
    SEND_IF(KNOWN(atReader, m), r, MISSED, m, m)
#define SAY(word) SEND_IF(!direct[r] && asked[current[r]] && IS_DUE(current[r]), r, word, current[r], NEVER)

proctype Attacker(byte r) {
end:
    do
    SEND_IF(!direct[r] && asked[current[r]] && IS_DUE(THE_SHOWING_OF(r)), r, SHOWN_THERE, current[r], NEVER)
    SAY(CANCELLED)
    SAY(FALLBACK)
    SAY(NOBODY)
    SEND_IF(direct[r] || (asked[current[r]] && IS_DUE(current[r])), r, GUESS, current[r], NEVER)
    EACH_NONCE(PASS_ON)
#ifdef FINGER
    EACH_NONCE(PASS_ON_VERDICT)
#endif
    od
}

/* ---- The trusted ones: the user, at an honest agent or an honest `vauban unlock`, and the reader. ---- */

/* The attacker shows a prompt that it saw, and the user agrees. An agent seals for the purpose `prompt` alone. */
#define AGREE(n) :: atomic { !KNOWN(promptSeal, n) && KNOWN(asked, n) && IS_DUE(n) -> promptSeal[n] = true }
/* The user unlocks, and the attacker hands the program whatever nonce it knows. It seals for the purpose `unlock` alone. */
#define UNLOCKING(n) \
    :: atomic { !KNOWN(unlockSeal, n) && KNOWN(issued, n) && (asked[n] || direct[OWNER(n)]) -> unlockSeal[n] = true }
/* The same nonce under words that are not the enclave's. A seal that covers the words would not open. */
#ifdef SEAL_COVERS_QUESTION
#define ALTERED(n)
#else
#define ALTERED(n) :: atomic { !promptSeal[n] && asked[n] -> promptSeal[n] = true; altered[n] = true }
#endif
/* An agent that does not look at the purpose is shown an unlock's nonce under a prompt. */
#define MISLED_AGENT(n) :: atomic { !unlockSeal[n] && issued[n] && direct[OWNER(n)] -> unlockSeal[n] = true; misled[n] = true }
/* The user's finger, while the reader looks for this nonce. The sensor does not know which prompt is on the screen. */
#ifdef LIMIT_FINGER
#define OTHERS_ASKED(n) (asked[0] + asked[1] + asked[2] + asked[3] + asked[4] + asked[5] > asked[n])
#define TOUCH(n) :: atomic { !matched[n] && atReader[n] && OTHERS_ASKED(n) -> matched[n] = true; stray[n] = true }
#else
#define TOUCH(n) :: atomic { !KNOWN(matched, n) && KNOWN(atReader, n) && IS_DUE(n) -> matched[n] = true }
#endif

proctype User() {
end:
    do
    EACH_NONCE(AGREE)
#ifdef DIRECT
    EACH_NONCE(UNLOCKING)
#endif
#ifdef LIMIT_ALTERED
    EACH_NONCE(ALTERED)
#endif
#ifdef BREAK_AGENT
    EACH_NONCE(MISLED_AGENT)
#endif
#ifdef FINGER
    EACH_NONCE(TOUCH)
#endif
    od
}

/* Anybody's `vauban lock`, sleep, the screen. */
proctype Locker() {
#ifdef REPLAY
    byte p;
#endif
end:
    do
#ifdef REPLAY
    :: atomic { event ? E_LOCK, p, _ -> locked[p] = true; p = 0 }
    /* A passcode that a caller brought, for an unlock or for upkeep: of it the trace has only the count. */
    :: atomic { event ? E_COUNT, p, _ -> if :: locked[p] = false :: true fi; p = 0 }
#else
    :: atomic { !locked[0] -> locked[0] = true }
#endif
    od
}

/* The user's time, which passes whatever the others do. */
proctype Clock() {
    byte r;
#ifndef BREAK_DEADLINE
    do
    :: atomic { r < REQUESTS -> late[r] = true; r++ }
    :: r == REQUESTS -> break
    od
#endif
}

#ifdef REPLAY
bool ended;
#include "trace-events.h"    /* the process Trace, which offers one event after the other */
#endif

init {
    byte r;
    atomic {
        do
        :: r < REQUESTS -> current[r] = NEVER; run Request(r); run Attacker(r); r++
        :: else -> break
        od;
        run User();
#ifndef LIVE
        run Locker();
#else
        run Clock();
#endif
#ifdef REPLAY
        run Trace();
#endif
    }
}

#ifdef LIVE
ltl every_request_ends { [] (live[0] -> <> !live[0]) }
#endif
