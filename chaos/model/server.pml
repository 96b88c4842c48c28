/*
 * The server: what each script does to the keys, as one step. Which request reaches it, and when, is left to link.pml.
 */

#ifdef GUARD
/* lua/lib/grace.lua: for how long strangers are kept out. The first script after a promotion starts the grace. */
inline lookAtGrace(c) {
  if
  :: record == unseen ->
    record = grace;
    graceLeft = GRACE;
#ifdef GRACE_BY_CLIENT_CLOCK
    seenBy = c
#endif
  :: else
  fi;
  remaining = graceLeft;
#ifdef GRACE_BY_CLIENT_CLOCK
  /* The clock of process 1 shows two ticks more than that of process 0. */
  remaining = (graceLeft + 2 * seenBy > 2 * (c) -> graceLeft + 2 * seenBy - 2 * (c) : 0);
#endif
#ifdef GRACE_STARTS_ANEW
  graceLeft = (graceLeft > 0 -> GRACE : 0);
#endif
  record = (graceLeft == 0 -> settled : record)
}
#endif

#ifdef TOKENS
/* lua/fenced-lock/acquire.lua: one more than the last token, and no less than the server's clock. Tokens rise. */
inline giveToken(o) {
#ifdef TOKEN_BY_INCR
  assert(hasHighest);
#else
  assert(hasHighest || behind == 0);
#endif
  if
  :: !hasHighest -> SEEN(TOKEN_BY_CLOCK)
  :: else
  fi;
  hasHighest = 1;
  highestOwner = o;
  replicaHasHighest = 0
}
#endif

/* lua/lock/acquire.lua; with the guard, lua/guard/check.lua or settled.lua runs before it. */
inline runAcquire(c, o) {
  remaining = 0;
#if defined(GUARD) && !defined(STRANGERS_AT_ONCE)
  lookAtGrace(c);
#endif
  if
  :: remaining > 0 -> answer = busy
  :: remaining == 0 && holder == 0 && ended[o] ->
    answer = barred;
    SEEN(BARRED)
  :: remaining == 0 && holder == 0 && !ended[o] ->
#ifndef GUARD
    /* A hold that is over does not begin again. */
    assert(!over[o]);
#endif
#ifdef TOKENS
    giveToken(o);
#endif
    holder = o;
    lease = LEASE;
    answer = granted
  :: remaining == 0 && holder == o ->
    lease = LEASE;
    answer = granted
  :: remaining == 0 && holder != 0 && holder != o ->
    remaining = lease;
    answer = busy
  fi
}

/* lua/lock/renew.lua. */
inline runRenew(o) {
  if
  :: holder == o ->
    lease = LEASE;
    answer = confirmed
  :: else -> answer = missing
  fi
}

#ifdef GUARD
/* lua/lock/reclaim.lua, lua/lib/reclaim-hold.lua, lua/lib/may-reclaim.lua; for the token lua/fenced-lock/reclaim.lua. */
inline runReclaim(c, o) {
#ifdef TOKENS
  hasHighest = (highestOwner == o -> 1 : hasHighest);
#endif
  if
  :: holder == o ->
    lease = LEASE;
    answer = confirmed
  :: holder != o && ended[o] -> answer = refused
  :: holder != o && !ended[o] ->
    lookAtGrace(c);
    if
    :: remaining > 0 && holder == 0 ->
      holder = o;
      lease = LEASE;
      answer = confirmed;
      SEEN(GIVEN_BACK)
    :: remaining > 0 && holder != 0 ->
      answer = refused;
      SEEN(TAKEN)
    :: remaining == 0 -> answer = refused
    fi
  fi
}
#endif

/* lua/lock/release.lua, end.lua: ends the hold, leaves the marker if it is told to, wakes the other process. */
inline runRelease(c, o, marks) {
  if
#ifdef RELEASE_ANY_OWNER
  :: holder != 0 ->
#else
  :: holder == o ->
#endif
    holder = 0;
    lease = 0;
    /* While there are faults, waiters attempt at any time: whether a wake-up is lost makes no difference. */
    nap[1 - (c)] = (!faulty && stage[1 - (c)] == waiting -> 0 : nap[1 - (c)])
  :: else
  fi;
#ifndef NO_MARKER
  ended[o] = (marks -> 1 : ended[o]);
#endif
#ifndef GUARD
  over[o] = 1
#endif
}

inline clearAnswer() {
  answer = idle;
  remaining = 0
}

/* No key, process or message refers to this owner any more: a note about it makes no difference. */
#define IS_UNUSED(c, o) (!releasing[o] && !HAS_LATE(o) && (stage[c] == away || OWNER(c) != o) && holder != o)
#ifdef GUARD
#define IS_GONE(c, o) (IS_UNUSED(c, o) && replicaHolder != o)
#else
#define IS_GONE(c, o) IS_UNUSED(c, o)
#endif
inline forget(c, o) {
  if
  :: IS_GONE(c, o) ->
    ended[o] = 0;
#ifdef PLAIN
    doubt[o] = 0;
#endif
#ifdef GUARD
    replicaEnded[o] = 0;
#else
    over[o] = 0;
#endif
#ifdef TOKENS
    highestOwner = (highestOwner == o -> 0 : highestOwner)
#endif
  :: else
  fi
}

#ifdef GUARD
inline forgetAll() {
  forget(0, 1);
  forget(0, 2);
  forget(1, 3);
  forget(1, 4)
}
#endif
