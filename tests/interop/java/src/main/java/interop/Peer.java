package interop;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisException;

/**
 * A Redisson client that is driven from outside: orders are JSON lines on standard input, answers JSON lines on
 * standard output, in the order in which they come to be. Its one argument is {@link Settings} in JSON. It ends
 * with its standard input.
 */
public final class Peer {
  private static final Gson JSON = new GsonBuilder().serializeNulls().create();

  private final PrintStream answers = new PrintStream(System.out, true, StandardCharsets.UTF_8);
  private final Threads threads = new Threads();
  private final RedissonClient redisson;
  private final Locks locks;
  private final Semaphores semaphores;
  private final PermitSemaphores permitSemaphores;
  private final Latches latches;
  private final RateLimiters rateLimiters;
  private final Storm storm;

  private Peer(RedissonClient redisson) {
    this.redisson = redisson;
    this.locks = new Locks(redisson);
    this.semaphores = new Semaphores(redisson);
    this.permitSemaphores = new PermitSemaphores(redisson);
    this.latches = new Latches(redisson);
    this.rateLimiters = new RateLimiters(redisson);
    this.storm = new Storm(redisson, locks);
  }

  public static void main(String[] args) throws IOException {
    Settings settings = JSON.fromJson(args[0], Settings.class);
    new Peer(Redisson.create(settings.toConfig())).serve();
    // Threads may still be waiting for what never comes.
    System.exit(0);
  }

  private void serve() throws IOException {
    say(Map.of("ready", true));
    BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = orders.readLine(); line != null; line = orders.readLine()) {
      Order order = JSON.fromJson(line, Order.class);
      if (order.op().equals("isAsleep")) {
        say(Map.of("id", order.id(), "value", threads.isAsleep(order.thread())));
      } else {
        threads.execute(order.thread(), () -> carryOut(order));
      }
    }
  }

  private void carryOut(Order order) {
    Map<String, Object> answer = new LinkedHashMap<>();
    answer.put("id", order.id());
    try {
      answer.put("value", perform(order));
    } catch (LinkageError missing) {
      // The program was compiled against a newer Redisson than the one it runs with.
      answer.put("unsupported", missing.getMessage());
    } catch (Exception thrown) {
      // Redisson wraps what its own code threw; the reason says more.
      boolean isWrapped = thrown instanceof RedisException && thrown.getCause() instanceof RuntimeException;
      Throwable error = isWrapped ? thrown.getCause() : thrown;
      answer.put("error", error.getClass().getSimpleName());
      answer.put("message", error.getMessage());
    }
    say(answer);
  }

  private Object perform(Order order) throws InterruptedException {
    if (order.op().equals("storm")) {
      return storm.perform(order);
    }
    return switch (order.kind()) {
      case "owner" -> owner(redisson);
      case "semaphore" -> semaphores.perform(order);
      case "permits" -> permitSemaphores.perform(order);
      case "latch" -> latches.perform(order);
      case "rate" -> rateLimiters.perform(order);
      default -> locks.perform(order);
    };
  }

  /** The field that stands for the current thread in the hash of a lock. */
  static String owner(RedissonClient redisson) {
    return redisson.getId() + ":" + Thread.currentThread().getId();
  }

  private synchronized void say(Map<String, Object> answer) {
    answers.println(JSON.toJson(answer));
  }
}
