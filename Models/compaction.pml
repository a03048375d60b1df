/*
 * Compaction of the files of one device (Specs/sync.md, "Compaction"): what it removes, nobody needs, and whoever is shown less than it left says so.
 *
 * The writer W changes and deletes two items, a file for each change, and compacts: it writes again what it has, waits for the reader, leaves a
 * record in place of its first file, and removes the others up to there. It may be killed between any two steps, and once be put back with its disk.
 * The reader R joins at any time, and W learns of it later; it may be away, be killed after any file behind a gap, and once be put back to what it
 * was. In each run of R, the carrier shows it for each file what that is or ever was, or nothing.
 *
 * Chosen by -D: FILES; TWICE (one item, and nobody is put back, so that there is room for a second record); ONLY (one property); one of the BREAK_ names below; and REACH_ (an end that must be reachable, whose assertion fails there).
 */
#ifndef FILES
#define FILES 4
#endif
#define RECORDS 2
#ifdef TWICE
#define SECOND false
#else
#define SECOND true
#endif

byte broken;
#ifdef ONLY
#define promise(k, c) if :: (k == ONLY && !(c)) -> broken = k; assert(broken != k) :: else fi
#else
#define promise(k, c) if :: !(c) -> broken = k; assert(broken != k) :: else fi
#endif

#ifdef BREAK_REWRITE          /* nothing is written again */
#define REWRITES false
#else
#define REWRITES true
#endif
#ifdef BREAK_DELETIONS        /* deletions are not written again */
#define DELETIONS false
#else
#define DELETIONS true
#endif
#ifdef BREAK_MARKS            /* a run that is killed keeps the plan, and not what it has still to write again */
#define MARKS false
#else
#define MARKS true
#endif
#ifdef BREAK_ACK              /* W waits for nobody */
#define WAITS false
#else
#define WAITS true
#endif
#ifdef BREAK_CHAINS           /* the record has not the chain before the gap */
#define CHAINS false
#else
#define CHAINS true
#endif
#ifdef BREAK_ORDER            /* files go before the record is there */
#define ORDERED false
#else
#define ORDERED true
#endif
#ifdef BREAK_RECORD           /* a gap needs no record */
#define RECORDED false
#else
#define RECORDED true
#endif
#ifdef BREAK_UNTIL            /* R forgets, when it is killed, up to where it must read */
#define UNTIL false
#else
#define UNTIL true
#endif
#ifdef BREAK_SIGNED           /* the carrier makes a record */
#define SIGNED false
#else
#define SIGNED true
#endif

/* A change has the number of its file as its stamp, so a later one has a later stamp. */
#define VISIBLE(s) ((s == 0 || dead[s]) -> 0 : s)

byte files;                   /* the last file of W */
bit item[FILES + 1];          /* which item a file is about */
byte stamp[FILES + 1];        /* which change of it */
bit dead[FILES + 1];          /* the change with this stamp is a deletion */
byte first[FILES + 1], second[FILES + 1];   /* the stamps that W had after each file */

/* What became of each file: 0 not there, 1 there, 2 removed; of the first one, 2 and more are records. */
byte now[FILES + 1], shown[FILES + 1];
byte gap[RECORDS + 2], tail[RECORDS + 2];   /* the last file that is gone, and that with the last that was written again */

/* W: what it has; the last file of its plan, with what it has still to write again; when that was done. */
byte one, two, plan, done;
bool oneMarked, twoMarked;
bool member;                  /* W has followed the statement that admits R */
byte heard;                   /* how far R says it has read, as W has read it */
bool waited;                  /* R was a member when the record was made */
bool cut;                     /* it was put back */

/* R: what it has, and how far it has read; what it says of that; and what it is put back to. */
bool joined;
byte position, has1, has2, said;
byte until;                   /* the last file that was written again, of the last gap that it passed */
byte position0, has10, has20, until0;
bool kept, back;
bool strayed;                 /* it has read a file that is W's no more, since W was put back */

#define RECORD(f) (f >= 2)
#define WHOLE(v) (v == 1)

inline wrote(which, what) {
    item[files + 1] = which; stamp[files + 1] = what; now[files + 1] = 1;
    if :: which == 0 -> one = what; oneMarked = false :: else -> two = what; twoMarked = false fi;
    files++;
    first[files] = one; second[files] = two;
    if :: plan > 0 && !oneMarked && !twoMarked && done == 0 -> done = files :: else fi
}

active proctype Writer() {
    byte f;
    do
    /* a change or a deletion, of an item that is there */
    :: atomic { files < FILES ->
            dead[files + 1] = 0;
            if
            :: wrote(0, files + 1)
            :: SECOND -> wrote(1, files + 1)
            :: one > 0 && !dead[one] -> dead[files + 1] = 1; wrote(0, files + 1)
            :: two > 0 && !dead[two] -> dead[files + 1] = 1; wrote(1, files + 1)
            fi }
    /* a plan, and the marks, in one write of its state */
    :: atomic { plan == 0 && files > 1 && (now[1] < RECORDS + 1) && (now[1] < 2 || files > gap[now[1]] + 1) ->
            plan = files; done = 0;
            oneMarked = REWRITES && one > 0 && (DELETIONS || !dead[one]);
            twoMarked = REWRITES && two > 0 && (DELETIONS || !dead[two]) }
    :: atomic { oneMarked && files < FILES -> wrote(0, one) }
    :: atomic { twoMarked && files < FILES -> wrote(1, two) }
    /* killed: either the state with the plan was saved, or that before it */
    :: atomic { plan > 0 && !(ORDERED == false && done > 0) ->
            if
            :: MARKS -> plan = 0; done = 0
            :: !MARKS -> if :: done == 0 -> done = files :: else fi
            fi;
            oneMarked = false; twoMarked = false }
    /* put back, with its disk and the folder there; once, and before it compacts */
    :: atomic { SECOND && !cut && plan == 0 && files > 1 && now[1] == 1 ->
            cut = true; heard = 0;
            strayed = position >= files;
            if :: said >= files -> said = 0 :: else fi;
            if :: position0 >= files -> kept = false; position0 = 0; has10 = 0; has20 = 0; until0 = 0 :: else fi;
            now[files] = 0; shown[files] = 0;
            files--;
            one = first[files]; two = second[files] }
    :: atomic { joined && !member -> member = true }
    :: atomic { heard < said -> heard = said }
    /* the record, in place of the first file */
    :: atomic { plan > 0 && done > plan && (!WAITS || !member || heard >= done) && (ORDERED || now[plan] == 2) ->
            if :: now[1] == 1 -> now[1] = 2 :: else -> now[1]++ fi;
            gap[now[1]] = plan; tail[now[1]] = done; plan = 0; done = 0; waited = member }
    /* a file that the record covers, in any order */
    :: atomic { now[1] >= 2 || (!ORDERED && plan > 0 && done > plan) ->
            f = 2;
            do
            :: f < files -> f++
            :: break
            od;
            if
            :: now[f] == 1 && ((now[1] >= 2 && f <= gap[now[1]]) || (!ORDERED && plan > 0 && done > plan && f <= plan)) ->
                now[f] = 2; f = 0;
                promise(4, !waited || back || position >= gap[now[1]])
#ifdef REACH_REMOVED
                ; assert(false)
#endif
            :: else -> f = 0
            fi }
    od
}

/* What R is shown of each file. */
inline carry() {
    f = 1;
    do
    :: f <= files ->
        if
        :: shown[f] = 1
        :: f == 1 && RECORD(now[1]) -> shown[1] = 2
        :: f == 1 && now[1] > 2 -> shown[1] = now[1]
        :: f == 1 && !SIGNED && files > 2 && now[1] == 1 -> gap[RECORDS + 1] = 2; tail[RECORDS + 1] = 3; shown[f] = RECORDS + 1
        :: shown[f] = 0
        fi;
        complete = complete && (shown[f] == now[f] || (f > 1 && now[f] == 2 && shown[f] == 0));
        f++
    :: else -> break
    od
}

inline forget() { f = 1; do :: f <= FILES -> shown[f] = 0; f++ :: else -> break od }

inline apply(f) {
    if
    :: item[f] == 0 && stamp[f] > has1 -> has1 = stamp[f]
    :: item[f] == 1 && stamp[f] > has2 -> has2 = stamp[f]
    :: else
    fi
}

active proctype Reader() {
    byte f, k, t;
    bool fault, jumped, complete, killed;
    do
    :: atomic { !joined -> joined = true }
    :: atomic { joined ->
            fault = false; jumped = false; complete = true; killed = false; k = 0; t = 0;
            carry();
            if :: RECORD(shown[1]) -> k = gap[shown[1]]; t = tail[shown[1]] :: else fi;
            /* The last file that was read is there, unless the record is behind it. */
            if :: position > 0 && position >= k + 1 && shown[position] != 1 -> fault = true :: else fi;
            if
            :: !fault && position < k ->
                f = k + 1;
                do :: f <= t -> fault = fault || shown[f] != 1; f++ :: else -> break od;
                jumped = !fault;
                if :: jumped && !(strayed && CHAINS) -> position = k; if :: UNTIL -> until = t :: else fi :: else fi
            :: else
            fi;
            /* It was killed behind a gap, and what it had still to read is not there any more. */
            if :: !fault && position < until && shown[until] != 1 -> fault = true :: else fi;
            /* Signatures cover the chain, and the record has it. */
            if :: strayed && (CHAINS || !jumped) -> fault = true :: else fi;
            promise(3, !(strayed && !fault));
            do
            :: !fault && position < FILES && shown[position + 1] == 1 -> position++; apply(position)
            :: !fault && jumped && position > k && position < t -> killed = true; break
            :: !fault && !RECORDED && position + 1 < FILES && shown[position + 1] != 1 && shown[position + 2] == 1 -> position = position + 2; apply(position)
            :: else -> break
            od;
            /* A file is missing before others. */
            f = position + 1;
            do :: f <= FILES -> fault = fault || (!fault && !killed && RECORDED && shown[f] == 1); f++ :: else -> break od;
            promise(2, !(fault && complete && !strayed));
            if
            :: !fault && !killed ->
                promise(1, VISIBLE(has1) == VISIBLE(first[position]) && VISIBLE(has2) == VISIBLE(second[position]));
                if :: position > said -> said = position :: else fi
#ifdef REACH_JUMPED
                ; assert(!(jumped && back))
#endif
#ifdef REACH_TWICE
                ; assert(!(complete && now[1] == 3 && said > 0 && jumped))
#endif
#ifdef REACH_JOINED
                ; assert(!(jumped && complete && now[2] == 2))
#endif
            :: else
            fi;
            forget();
            f = 0; k = 0; t = 0; fault = false; jumped = false; complete = false; killed = false }
    /* What it is put back to, with the database. */
    :: atomic { joined && SECOND && !kept && !back && !strayed -> kept = true; position0 = position; has10 = has1; has20 = has2; until0 = until }
    :: atomic { kept && !back -> back = true; kept = false; position = position0; has1 = has10; has2 = has20; until = until0; strayed = false }
    od
}
