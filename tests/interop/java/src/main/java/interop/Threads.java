package interop;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Stream;

/** One Java thread for every name that orders mention; to Redisson each is an owner. */
final class Threads {
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  private record Worker(ExecutorService queue, Thread thread) {}

  private final Map<String, Worker> workers = new ConcurrentHashMap<>();

  /** Runs work on the thread of that name, after what it was given before. */
  void execute(String name, Runnable work) {
    workers.computeIfAbsent(name, Threads::start).queue().execute(work);
  }

  /** Whether the thread of that name sleeps inside of Redisson until a message or a timer wakes it. */
  boolean isAsleep(String name) {
    Worker worker = workers.get(name);
    return worker != null && isAsleep(worker.thread());
  }

  private static boolean isAsleep(Thread thread) {
    // Taken at one moment: a thread that has just got its reply would have the state of before and the stack of after.
    ThreadInfo moment = THREADS.getThreadInfo(thread.getId(), Integer.MAX_VALUE);
    Thread.State state = moment.getThreadState();
    if (state != Thread.State.WAITING && state != Thread.State.TIMED_WAITING) {
      return false;
    }
    StackTraceElement[] stack = moment.getStackTrace();
    // Who waits for a reply of the server waits for a future.
    return isIn(stack, "org.redisson.") && !isIn(stack, "java.util.concurrent.CompletableFuture");
  }

  private static boolean isIn(StackTraceElement[] stack, String place) {
    return Stream.of(stack).anyMatch(frame -> frame.getClassName().startsWith(place));
  }

  private static Worker start(String name) {
    Thread[] made = new Thread[1];
    ExecutorService queue =
        Executors.newSingleThreadExecutor(
            work -> {
              made[0] = new Thread(work, name);
              made[0].setDaemon(true);
              return made[0];
            });
    // The thread is made with the first task.
    queue.execute(() -> {});
    return new Worker(queue, made[0]);
  }
}
