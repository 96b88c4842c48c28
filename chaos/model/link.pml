/*
 * The link of one process: brings its requests and their copies to the server. While there are faults, it loses,
 * repeats and delays them; then it delivers before time goes on.
 */

/*
 * The script runs. An answer that grants or confirms is a step for the client to take, later or never. The others take
 * effect at once: coming later, they would only be noticed later, which a later request shows as well.
 */
inline deliver(c) {
  if
  :: call[c] == acquire -> runAcquire(c, OWNER(c))
  :: call[c] == renew -> runRenew(OWNER(c))
#ifdef GUARD
  :: call[c] == reclaim -> runReclaim(c, OWNER(c))
#endif
  fi;
  printf("server: %e of owner %d: %e\n", call[c], OWNER(c), answer);
  call[c] = answer;
  if
  :: answer == busy ->
    endCall(c);
    stage[c] = waiting;
#ifdef ASK_WITHOUT_PAUSE
    nap[c] = 0
#elif defined(WAKE_ONLY)
    nap[c] = (faulty -> 0 : LONGEST_NAP)
#else
    nap[c] = (faulty -> 0 : (remaining < POLL -> remaining : POLL))
#endif
#ifdef GUARD
  /* src/runtime/tenure.ts: the server may have forgotten the hold, and is asked for it back. */
  :: answer == missing ->
    endCall(c);
    call[c] = reclaim
  :: answer == refused -> lose(c)
#else
  :: answer == missing -> lose(c)
#endif
  :: else -> assert(answer == granted || answer == confirmed)
  fi;
  clearAnswer()
}

/* src/runtime/tenure.ts: a plain release leaves no marker. It is for owners whose every attempt was answered. */
#ifdef PLAIN
#define MARKS(o) doubt[o]
#else
#define MARKS(o) true
#endif

inline deliverRelease(c, o) {
  runRelease(c, o, MARKS(o));
  printf("server: the release of owner %d\n", o)
}

inline settleRelease(c, o) {
  deliverRelease(c, o);
  releasing[o] = 0;
  forget(c, o)
}

proctype Link(byte c) {
  do
  :: d_step { IS_REQUEST(c) -> deliver(c) }
  :: d_step { releasing[FIRST(c)] -> settleRelease(c, FIRST(c)) }
  :: d_step { releasing[SECOND(c)] -> settleRelease(c, SECOND(c)) }
  :: d_step { HAS_LATE(FIRST(c)) -> deliverLate(c, FIRST(c)) }
  :: d_step { HAS_LATE(SECOND(c)) -> deliverLate(c, SECOND(c)) }

  /* The release runs and its answer is lost: the client repeats it. */
  :: d_step { faulty && releasing[FIRST(c)] -> deliverRelease(c, FIRST(c)) }
  :: d_step { faulty && releasing[SECOND(c)] -> deliverRelease(c, SECOND(c)) }

#ifndef PLAIN
  /* A request is sent twice. Where releases are plain, the driver writes it once: see abandonCall. */
  :: d_step { faulty && IS_REQUEST(c) && ROOM(OWNER(c)) -> delay(c) }
#endif
  :: d_step { faulty && releasing[FIRST(c)] && ROOM(FIRST(c)) -> delayRelease(FIRST(c)) }
  :: d_step { faulty && releasing[SECOND(c)] && ROOM(SECOND(c)) -> delayRelease(SECOND(c)) }

  /* A copy never arrives. */
  :: d_step { faulty && HAS_LATE(FIRST(c)) -> dropLate(c, FIRST(c)) }
  :: d_step { faulty && HAS_LATE(SECOND(c)) -> dropLate(c, SECOND(c)) }
  od
}
