package bench;

import java.util.Map;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** One hold at a time that ends when it is told to. */
final class Handover {
  private final RedissonClient redisson;
  private RLock held;

  Handover(RedissonClient redisson) {
    this.redisson = redisson;
  }

  Map<String, Object> acquire(String key) {
    held = redisson.getLock(key);
    held.lock();
    return Map.of("atUs", nowUs());
  }

  Map<String, Object> release() {
    double atUs = nowUs();
    held.unlock();
    return Map.of("atUs", atUs);
  }

  /** On Linux this is the monotonic clock, which all processes share. */
  private static double nowUs() {
    return System.nanoTime() / 1e3;
  }
}
