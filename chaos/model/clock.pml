/*
 * Time. While there are faults, a tick comes at any moment; then it comes when nothing else is left to do.
 */

inline tickServer() {
  lease = (lease > 0 -> lease - 1 : 0);
  holder = (lease > 0 -> holder : 0);
#ifdef GUARD
  replicaLease = (replicaLease > 0 -> replicaLease - 1 : 0);
  replicaHolder = (replicaLease > 0 -> replicaHolder : 0);
  graceLeft = (graceLeft > 0 -> graceLeft - 1 : 0);
  forgetAll();
#endif
#ifdef TOKENS
  behind = (behind > 0 -> behind - 1 : 0)
#endif
}

inline tickClient(c) {
  age[c] = (call[c] != idle && age[c] < RELIABLE + DRIFT -> age[c] + 1 : age[c]);
  nap[c] = (nap[c] > 0 -> nap[c] - 1 : 0);
#ifdef PASSING
  fresh[c] = 0;
  budget = (budget > 0 -> budget - 1 + (c) : 0);
#endif
  if
  :: stage[c] == inside && deadline[c] == 1 ->
    deadline[c] = 0;
    lose(c)
  :: stage[c] == inside && deadline[c] > 1 -> deadline[c]--
  :: else
  fi
}

inline tick() {
  tickServer();
  tickClient(0);
  tickClient(1)
}

/* Where process 0 passes the lock on, its tasks never stop coming: the other process must get in all the same. */
#ifdef PASSING
#define MUST_GET_IN IS_WAITING(1)
#else
#define MUST_GET_IN (IS_WAITING(0) || IS_WAITING(1))
#endif

proctype Clock() {
  do
  :: d_step { faulty ->
      printf("clock: a tick\n");
      tick() }
  :: timeout ->
progress_tick:
    d_step {
      printf("clock: a tick, with nothing else to do\n");
      calmFor = (MUST_GET_IN -> calmFor + 1 : 0);
      assert(calmFor <= WITHIN);
      tick()
    }
  od
}
