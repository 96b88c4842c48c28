/*
 * Copies of requests for whose answers no call waits: the network repeated a request, or its call was abandoned.
 */

/* With plain releases, a copy may be one of these. */
#ifdef PLAIN
#define LATE_MARKS false
#else
#define LATE_MARKS true
#endif

inline delay(c) {
  lateCopies++;
  lateAcquire[OWNER(c)] = (call[c] == acquire);
  lateRenew[OWNER(c)] = (call[c] == renew);
  lateReclaim[OWNER(c)] = (call[c] == reclaim);
  printf("network: a copy of the %e of owner %d will come late\n", call[c], OWNER(c))
}

inline delayRelease(o) {
  lateCopies++;
  lateRelease[o] = 1;
  printf("network: a copy of the release of owner %d will come late\n", o)
}

inline dropLate(c, o) {
  lateCopies--;
  lateAcquire[o] = 0;
  lateRenew[o] = 0;
  lateReclaim[o] = 0;
  lateRelease[o] = 0;
  forget(c, o)
}

/* The script runs like any other, and its answer reaches no caller. */
inline deliverLate(c, o) {
  if
  :: lateAcquire[o] ->
    runAcquire(c, o);
    printf("server: a late copy of the acquire of owner %d: %e\n", o, answer)
  :: lateRenew[o] ->
    runRenew(o);
    printf("server: a late copy of a renew of owner %d: %e\n", o, answer)
#ifdef GUARD
  :: lateReclaim[o] ->
    runReclaim(c, o);
    printf("server: a late copy of a reclaim of owner %d: %e\n", o, answer)
#endif
  :: lateRelease[o] ->
    runRelease(c, o, LATE_MARKS);
    printf("server: a late copy of the release of owner %d\n", o)
  fi;
  clearAnswer();
  dropLate(c, o)
}
