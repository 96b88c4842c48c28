package bench;

import com.google.gson.Gson;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * Redisson as a contestant: orders are JSON lines on standard input, answers JSON lines on standard output. Its one
 * argument is the server's URL. It ends with its standard input.
 */
public final class Player {
  private static final Gson JSON = new Gson();

  public static void main(String[] args) throws IOException, InterruptedException {
    Config config = new Config();
    config.useSingleServer().setAddress(args[0]);
    RedissonClient redisson = Redisson.create(config);
    Tasks tasks = new Tasks(redisson);
    Handover handover = new Handover(redisson);

    PrintStream answers = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    answers.println(JSON.toJson(Map.of("ready", true)));
    BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = orders.readLine(); line != null; line = orders.readLine()) {
      Order order = JSON.fromJson(line, Order.class);
      Object answer =
          switch (order.op()) {
            case "run" -> tasks.run(order);
            case "acquire" -> handover.acquire(order.key());
            case "release" -> handover.release();
            default -> throw new IllegalArgumentException(order.op());
          };
      answers.println(JSON.toJson(answer));
    }
    // Threads may still wait for a lock.
    System.exit(0);
  }
}
