/*
 * A process that takes the lock again and again. While there are faults, it takes each step as late as it likes, as a
 * process does that is stopped or busy, and gives up at any moment.
 */

inline endCall(c) {
  call[c] = idle;
  age[c] = 0
}

/* src/drivers/call-timeout.ts: the call settles without an answer. Its request may still be under way. */
inline abandonCall(c) {
#if defined(PLAIN) && !defined(PLAIN_IN_DOUBT)
  doubt[OWNER(c)] = (call[c] == acquire || call[c] == granted -> 1 : doubt[OWNER(c)]);
#endif
  if
  :: IS_REQUEST(c) && ROOM(OWNER(c)) -> delay(c)
  :: else
  fi;
  endCall(c)
}

/* src/runtime/release.ts, background-retry.ts: the hold or the attempt is over, and its release is repeated. */
inline release(c) {
  abandonCall(c);
  believes[TASK(c)] = 0;
  deadline[c] = 0;
  nap[c] = 0;
  releasing[OWNER(c)] = 1;
#ifdef PASSING
  fresh[c] = 0;
  budget = ((c) == 0 -> 0 : budget);
#endif
  stage[c] = away;
  number[c] = 0
}

#ifdef PASSING
/* The next task of the process gets the tenure: the same owner, the same deadline, and nothing is sent. */
inline passOn() {
  believes[task] = 0;
  task = 1 - task;
  queued = 0;
  fresh[0] = 1;
#ifdef PASS_WITH_FRESH_LEASE
  deadline[0] = RELIABLE;
#endif
  printf("process 0: passes the lock on to its other task\n");
  begin(task);
  SEEN(PASSED_ON)
}
#endif

/* src/runtime/tenure.ts: the holder is told, and leaves. */
inline lose(c) {
  printf("process %d: owner %d is told that it has lost the lock\n", c, OWNER(c));
  SEEN(TOLD);
#ifdef PASS_AFTER_DEADLINE
  if
  :: (c) == 0 && queued -> passOn()
  :: else -> release(c)
  fi
#else
  release(c)
#endif
}

/*
 * src/runtime/lease-deadline.ts: a confirmation by the server counts from before the request. The holder counts by its
 * own clock, which may be late by the drift. Leaves 0 in `deadline` when the confirmation counts no more.
 */
inline relyOn(c, drift) {
#ifdef DEADLINE_FROM_REPLY
  deadline[c] = RELIABLE + drift;
#else
  deadline[c] = (age[c] < RELIABLE + drift -> RELIABLE + drift - age[c] : 0);
#endif
  endCall(c)
}

/* src/locks/lock-acquisition.ts, assertInTime of src/runtime/lease-deadline.ts: a grant past its deadline is none. */
inline takeGrant(c, drift) {
  relyOn(c, drift);
  if
#ifndef BELIEVE_LATE_GRANT
  :: deadline[c] == 0 ->
    printf("process %d: the grant of owner %d comes too late\n", c, OWNER(c));
    SEEN(LATE_GRANT);
    release(c)
#endif
  :: else ->
    stage[c] = inside;
#ifdef PASSING
    fresh[c] = 1;
    budget = ((c) == 0 -> BUDGET : budget);
#endif
    printf("process %d: believes that it holds the lock as owner %d (ticks to its deadline: %d)\n",
      c, OWNER(c), deadline[c]);
    begin(TASK(c))
  fi
}

inline takeConfirmation(c, drift) {
  relyOn(c, drift);
  if
  :: deadline[c] == 0 -> lose(c)
  :: else -> printf("process %d: owner %d is confirmed (ticks to its deadline: %d)\n", c, OWNER(c), deadline[c])
  fi
}

inline ask(c) {
  stage[c] = asking;
  call[c] = acquire;
  printf("process %d: asks for the lock as owner %d\n", c, OWNER(c))
}

/* src/runtime/line.ts: the head of the line asks at once, unless it has to let another process go first. */
inline want(c) {
#ifdef PASSING
  if
  :: (c) == 0 && queued ->
    task = 1 - task;
    queued = 0
  :: else
  fi;
#endif
  if
  :: nap[c] == 0 -> ask(c)
  :: else -> stage[c] = waiting
  fi
}

inline unlock(c) {
  printf("process %d: unlocks as owner %d\n", c, OWNER(c));
  release(c);
#if defined(PASSING) && !defined(NO_STAND_BACK)
  /* Another process waits: it goes first. */
  nap[c] = (!faulty && IS_WAITING(1 - (c)) -> STAND_BACK : 0)
#endif
}

#ifdef PASSING
#ifdef PASS_WITHOUT_BUDGET
#define HAS_BUDGET true
#else
#define HAS_BUDGET (budget > 0)
#endif
#define MAY_PASS(c) ((c) == 0 && queued && call[0] == idle && HAS_BUDGET && deadline[0] > 0)
/* The tasks of process 0 come again and again. Their sections last a tick, or time would stand still. */
#define WANTS(c) (faulty || (c) == 0)
#define IS_DONE(c) (faulty || !fresh[c])
#else
#define MAY_PASS(c) false
#define WANTS(c) faulty
#define IS_DONE(c) true
#endif

proctype Client(byte c) {
  do
  /* src/runtime/owner.ts: every acquisition has a fresh owner number. */
  :: d_step { stage[c] == away && WANTS(c) && IS_GONE(c, FIRST(c)) ->
      number[c] = 0;
      want(c) }
  :: d_step { stage[c] == away && WANTS(c) && !IS_GONE(c, FIRST(c)) && IS_GONE(c, SECOND(c)) ->
      number[c] = 1;
      want(c) }

  /* src/runtime/acquire.ts: try, wait, try again. */
  :: d_step { stage[c] == waiting && (faulty || nap[c] == 0) -> ask(c) }
  :: d_step { stage[c] == asking && call[c] == idle -> ask(c) }
  :: d_step { call[c] == granted -> takeGrant(c, 0) }
  :: d_step { call[c] == granted && faulty -> takeGrant(c, DRIFT) }
  :: d_step { faulty && IS_WAITING(c) ->
      printf("process %d: owner %d gives up\n", c, OWNER(c));
      release(c) }

  /* src/runtime/watchdog.ts: renews at any time while there are faults, then as late as it can. */
  :: d_step { stage[c] == inside && call[c] == idle && deadline[c] < RELIABLE && (faulty || deadline[c] == 1) ->
      call[c] = renew;
      printf("process %d: renews owner %d\n", c, OWNER(c)) }
  :: d_step { call[c] == confirmed -> takeConfirmation(c, 0) }
  :: d_step { call[c] == confirmed && faulty -> takeConfirmation(c, DRIFT) }

  :: d_step { faulty && call[c] != idle ->
      printf("process %d: owner %d gets no answer\n", c, OWNER(c));
      abandonCall(c) }

  :: d_step { stage[c] == inside && IS_DONE(c) && (faulty || !MAY_PASS(c)) -> unlock(c) }
#ifdef PASSING
  :: d_step { stage[c] == inside && IS_DONE(c) && MAY_PASS(c) -> passOn() }
  :: d_step { c == 0 && !queued ->
      queued = 1;
      printf("process 0: its other task wants the lock\n") }
#endif
  od
}
