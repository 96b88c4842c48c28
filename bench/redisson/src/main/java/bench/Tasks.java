package bench;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;
import org.redisson.api.RBucket;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.LongCodec;

/** Tasks that use locks again and again, a thread each, counted and timed. */
final class Tasks {
  /** How long an ended run may take to let its last holders finish, so that they do not disturb the next. */
  private static final long DRAIN_MS = 500;

  private static final long NOT_WAITING = 0;

  private final RedissonClient redisson;
  private final OperatingSystemMXBean system =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

  Tasks(RedissonClient redisson) {
    this.redisson = redisson;
  }

  Map<String, Object> run(Order order) throws InterruptedException {
    AtomicLongArray cycles = new AtomicLongArray(order.tasks());
    AtomicLongArray waitingSince = new AtomicLongArray(order.tasks());
    AtomicLongArray worstWaits = new AtomicLongArray(order.tasks());
    long cpuBefore = system.getProcessCpuTime();
    long startedAt = System.nanoTime();
    long endAt = startedAt + TimeUnit.MILLISECONDS.toNanos(order.ms());
    List<Thread> threads = new ArrayList<>();
    for (int task = 0; task < order.tasks(); task++) {
      threads.add(thread(order, task, endAt, cycles, waitingSince, worstWaits));
    }
    threads.forEach(Thread::start);
    join(threads, endAt);

    long endedAt = System.nanoTime();
    long cpuNs = system.getProcessCpuTime() - cpuBefore;
    long[] counted = new long[order.tasks()];
    long worstNs = 0;
    for (int task = 0; task < order.tasks(); task++) {
      counted[task] = cycles.get(task);
      long since = waitingSince.get(task);
      worstNs = Math.max(worstNs, Math.max(worstWaits.get(task), since == NOT_WAITING ? 0 : endedAt - since));
    }
    join(threads, System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(DRAIN_MS));
    return Map.of(
        "elapsedMs", (endedAt - startedAt) / 1e6,
        "cycles", counted,
        "worstWaitMs", worstNs / 1e6,
        "cpuUs", cpuNs / 1e3);
  }

  private Thread thread(
      Order order,
      int task,
      long endAt,
      AtomicLongArray cycles,
      AtomicLongArray waitingSince,
      AtomicLongArray worstWaits) {
    RLock lock = redisson.getLock(order.keys().equals("one") ? order.prefix() : order.prefix() + ":" + task);
    Runnable inside = inside(order);
    int most = order.cyclesEach() == null ? Integer.MAX_VALUE : order.cyclesEach();
    Thread thread =
        new Thread(
            () -> {
              for (int cycle = 0; cycle < most && System.nanoTime() < endAt; cycle++) {
                waitingSince.set(task, System.nanoTime());
                lock.lock();
                long waited = System.nanoTime() - waitingSince.getAndSet(task, NOT_WAITING);
                worstWaits.set(task, Math.max(worstWaits.get(task), waited));
                inside.run();
                lock.unlock();
                cycles.incrementAndGet(task);
              }
            });
    thread.setDaemon(true);
    return thread;
  }

  private Runnable inside(Order order) {
    return switch (order.inside()) {
      case "turn" -> Thread::yield;
      case "get and set" -> {
        RBucket<Long> counter = redisson.getBucket(order.prefix() + ":counter", LongCodec.INSTANCE);
        yield () -> {
          Long count = counter.get();
          counter.set(count == null ? 1 : count + 1);
        };
      }
      default -> () -> {};
    };
  }

  /** Waits until all have ended, or until the time is over. */
  private static void join(List<Thread> threads, long endAt) throws InterruptedException {
    for (Thread thread : threads) {
      long leftMs = TimeUnit.NANOSECONDS.toMillis(endAt - System.nanoTime());
      if (leftMs <= 0) {
        return;
      }
      thread.join(leftMs);
    }
  }
}
