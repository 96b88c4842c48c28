package interop;

import static interop.Order.MS;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.redisson.api.RAtomicLong;
import org.redisson.api.RBucket;
import org.redisson.api.RDeque;
import org.redisson.api.RFencedLock;
import org.redisson.api.RList;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;

/**
 * One thread's part in a storm: enters a lock again and again and leaves traces inside, from which a test can
 * tell whether it was alone there. The Node side does the same, see {@code storm.ts}.
 */
final class Storm {
  /** Longer than a storm may take: who is slow has not lost the lock. */
  private static final long LEASE_MS = 300_000;

  private final RedissonClient redisson;
  private final Locks locks;
  /** By lock: threads that storm together end together, so that none is left with nobody behind it. */
  private final Map<String, Long> ends = new ConcurrentHashMap<>();

  Storm(RedissonClient redisson, Locks locks) {
    this.redisson = redisson;
    this.locks = locks;
  }

  /** Storms for {@code waitMs}, and answers how often it was inside. Who writes also reads in between. */
  long perform(Order order) {
    Traces traces = new Traces(order);
    long endsAt =
        ends.computeIfAbsent(order.name(), name -> System.nanoTime() + MS.toNanos(order.waitMs()));
    long entries = 0;
    while (System.nanoTime() < endsAt) {
      if (order.kind().equals("write")) {
        inside(redisson.getReadWriteLock(order.name()).readLock(), traces::lookTwice);
      }
      RLock lock = locks.lock(order);
      inside(lock, () -> traces.leave(lock));
      entries++;
    }
    return entries;
  }

  private static void inside(RLock lock, Runnable act) {
    lock.lock(LEASE_MS, MS);
    try {
      act.run();
    } finally {
      lock.unlock();
    }
  }

  /** What every visitor leaves, under keys that the test knows. */
  private final class Traces {
    private final String kind;
    private final RBucket<String> counter;
    private final RBucket<String> successor;
    private final RAtomicLong followed;
    private final RDeque<String> queue;
    private final RList<String> tokens;
    private final RList<String> overtaken;

    Traces(Order order) {
      String name = order.name();
      kind = order.kind();
      counter = redisson.getBucket("counter:" + name, StringCodec.INSTANCE);
      successor = redisson.getBucket("successor:" + name, StringCodec.INSTANCE);
      followed = redisson.getAtomicLong("followed:" + name);
      // A name that has braces keeps its own.
      String inBraces = name.contains("{") ? name : "{" + name + "}";
      queue = redisson.getDeque("redisson_lock_queue:" + inBraces, StringCodec.INSTANCE);
      tokens = redisson.getList("tokens:" + name, StringCodec.INSTANCE);
      overtaken = redisson.getList("overtaken:" + name, StringCodec.INSTANCE);
    }

    void leave(RLock lock) {
      String before = counter.get();
      switch (kind) {
        case "fair", "nonReentrantFair" -> keepOrder();
        case "fenced" -> tokens.add(String.valueOf(((RFencedLock) lock).getToken()));
        default -> {}
      }
      // Read and written apart: only the lock keeps others from coming between.
      counter.set(String.valueOf(before == null ? 1 : Long.parseLong(before) + 1));
    }

    /** No writer may come in while somebody reads. */
    void lookTwice() {
      String before = counter.get();
      String after = counter.get();
      if (before != null && !before.equals(after)) {
        overtaken.add(before + " became " + after);
      }
    }

    /** Whoever was at the head of the queue under the last holder must be the next. */
    private void keepOrder() {
      String me = Peer.owner(redisson);
      String expected = successor.get();
      if (me.equals(expected)) {
        followed.incrementAndGet();
      } else if (expected != null) {
        overtaken.add(expected + " by " + me);
      }
      String next = queue.peekFirst();
      if (next == null) {
        successor.delete();
      } else {
        successor.set(next);
      }
    }
  }
}
