/*
 * The faults beside those of the network: processes are killed, the server is replaced or restarts. At some moment they
 * all stop.
 */

inline kill(c) {
  printf("nemesis: process %d is killed\n", c);
  release(c);
  releasing[FIRST(c)] = 0;
  releasing[SECOND(c)] = 0;
  forget(c, FIRST(c));
  forget(c, SECOND(c))
}

#ifdef GUARD
/* The replica catches up. Between two such steps, it lacks the last writes. */
inline replicate() {
  replicaHolder = holder;
  replicaLease = lease;
  replicaEnded[1] = ended[1];
  replicaEnded[2] = ended[2];
  replicaEnded[3] = ended[3];
  replicaEnded[4] = ended[4];
#ifdef TOKENS
  replicaHasHighest = hasHighest;
#endif
  forgetAll()
}

inline emptyReplica() {
  replicaHolder = 0;
  replicaLease = 0;
  replicaEnded[1] = 0;
  replicaEnded[2] = 0;
  replicaEnded[3] = 0;
  replicaEnded[4] = 0;
#ifdef TOKENS
  replicaHasHighest = 0
#endif
}

/* The server has the data of the replica, or of a snapshot that is as old. */
inline goBack() {
  holder = replicaHolder;
  lease = replicaLease;
  ended[1] = replicaEnded[1];
  ended[2] = replicaEnded[2];
  ended[3] = replicaEnded[3];
  ended[4] = replicaEnded[4];
#ifdef TOKENS
  hasHighest = replicaHasHighest;
#endif
  forgetAll()
}

inline promote(ticks) {
  printf("nemesis: the replica is promoted\n");
  goBack();
  record = unseen;
  graceLeft = 0;
#ifdef TOKENS
  behind = (behind < ticks -> ticks : behind)
#endif
}

/* A server that was never promoted knows by its uptime when its grace ends: lua/lib/grace.lua. */
inline restart() {
  goBack();
  record = grace;
  graceLeft = GRACE;
#ifdef GRACE_BY_CLIENT_CLOCK
  seenBy = 0
#endif
}
#endif

proctype Nemesis() {
progress_faults:
  do
  :: d_step { faulty && stage[0] != away -> kill(0) }
  :: d_step { faulty && stage[1] != away -> kill(1) }
#ifdef GUARD
  :: d_step { faulty -> replicate() }
  :: d_step { faulty -> promote(0) }
#ifdef TOKENS
  :: d_step { faulty -> promote(BEHIND) }
#endif
  :: d_step { faulty ->
      printf("nemesis: the server restarts with older data\n");
      restart() }
  :: d_step { faulty ->
      printf("nemesis: the server restarts without data\n");
      emptyReplica();
      restart() }
#endif
  :: d_step { faulty ->
      printf("nemesis: the faults stop\n");
      faulty = 0;
#ifdef GUARD
      emptyReplica();
      forgetAll();
#endif
      nap[0] = (stage[0] == waiting -> LONGEST_NAP : 0);
      nap[1] = (stage[1] == waiting -> LONGEST_NAP : 0) };
    break
  od
}
