/*
 * The bounds, the state, and the promise that every search checks. What happens is left to the other files.
 */

/* Ticks for which the server grants the lock, and for which it keeps strangers out after a change. */
#ifndef LEASE
#define LEASE 3
#endif
#ifndef GRACE
#define GRACE 3
#endif

/* Within a lease, the clocks of a client and of the server drift apart by one tick at most. */
#define DRIFT 1
#ifdef NO_DRIFT_ALLOWANCE
#define ALLOWANCE 0
#else
#define ALLOWANCE DRIFT
#endif

/* For how long a holder relies on one word of the server, counted from before the question. */
#if defined(GUARD) && GRACE < LEASE && !defined(TRUST_LONG_LEASE)
#define RELIABLE (GRACE - ALLOWANCE)
#else
#define RELIABLE (LEASE - ALLOWANCE)
#endif

/* A waiter sleeps for no longer than this before it asks again. */
#define POLL 2
#ifdef WAKE_ONLY
#define LONGEST_NAP (2 * WITHIN)
#else
#define LONGEST_NAP POLL
#endif

/* Late copies of requests that are under way at once. */
#ifndef LATE
#define LATE 0
#endif

/* By how much the clock of a promoted server may be behind that of its predecessor. */
#ifndef BEHIND
#define BEHIND 2
#endif

/* For how long a process passes a lock on before it releases it, and then lets other processes go first. */
#define BUDGET 2
#define STAND_BACK 1

/* Every waiter must be in within so many ticks after the faults have stopped. */
#ifndef WITHIN
#define WITHIN 20
#endif

/* Owners are numbered from 1, two for each process; 0 is none. */
#define OWNERS 5
#define FIRST(c) (1 + 2 * (c))
#define SECOND(c) (2 + 2 * (c))
#define OWNER(c) (FIRST(c) + number[c])

mtype:stage = { away, waiting, asking, inside };
mtype:call = { idle, acquire, renew, reclaim, granted, confirmed, busy, barred, missing, refused };

/* Whether faults happen; once they have stopped, the ticks that waiters have waited since. */
bit faulty = 1;
byte calmFor;

/* Of each process: its stage, owner number, call, and the ticks since the call was sent, to its deadline, and of sleep. */
mtype:stage stage[2] = away;
bit number[2];
mtype:call call[2] = idle;
byte age[2];
byte deadline[2];
byte nap[2];
/* Owners whose release is repeated until it is answered. */
bit releasing[OWNERS];

#ifdef PLAIN
/* Owners of which an attempt got no answer: a copy of it may come at any time. */
bit doubt[OWNERS];
#endif

/* The tasks that believe they hold the lock. */
bit believes[3];

/* The keys on the server: the lock with its lease, and a marker for each owner. */
byte holder;
byte lease;
bit ended[OWNERS];
/* The answer of a script, and for how long the lock stays taken; cleared when the step ends. */
mtype:call answer = idle;
byte remaining;

/* Copies of requests for whose answers no call waits. */
byte lateCopies;
bit lateAcquire[OWNERS];
bit lateRenew[OWNERS];
bit lateReclaim[OWNERS];
bit lateRelease[OWNERS];

#ifdef GUARD
/* The record of the guard: no change to reckon with, a change that no script has seen, a change whose grace runs. */
mtype:record = { settled, unseen, grace };
mtype:record record = settled;
byte graceLeft;
byte replicaHolder;
byte replicaLease;
bit replicaEnded[OWNERS];
#ifdef GRACE_BY_CLIENT_CLOCK
bit seenBy;
#endif
#else
/* The server has run a release of this owner, whether or not it remembers that. */
bit over[OWNERS];
#endif

#ifdef TOKENS
/* Whether the server has the highest token ever given, the owner of that, the ticks until the clock is past it. */
bit hasHighest = 1;
byte highestOwner;
byte behind;
bit replicaHasHighest = 1;
#endif

#ifdef PASSING
/* Process 0: the task that is inside or attempts, whether the other one waits behind it, the rest of the budget. */
bit task;
bit queued;
byte budget;
/* The section has not lasted a tick yet. */
bit fresh[2];
#define TASK(c) (2 * (c) + task * (1 - (c)))
#else
#define TASK(c) (c)
#endif

#define IS_WAITING(c) (stage[c] == waiting || stage[c] == asking)
#define IS_REQUEST(c) (call[c] == acquire || call[c] == renew || call[c] == reclaim)
#define HAS_LATE(o) (lateAcquire[o] || lateRenew[o] || lateReclaim[o] || lateRelease[o])
#define ROOM(o) (lateCopies < LATE && !HAS_LATE(o))

/* The promise: a task that begins to believe finds that no other task does. */
inline begin(t) {
  assert(!believes[0] && !believes[1] && !believes[2]);
  believes[t] = 1
}

/* Situations that a search must reach, or it proves nothing. With -DSEE=<one of them> it stops there. */
#define TOLD 1
#define LATE_GRANT 2
#define BARRED 3
#define GIVEN_BACK 4
#define TAKEN 5
#define TOKEN_BY_CLOCK 6
#define PASSED_ON 7
#ifndef SEE
#define SEE 0
#endif
#define SEEN(situation) assert(SEE != situation)
