package interop;

import static interop.Order.MS;

import java.util.List;
import org.redisson.api.RRateLimiter;
import org.redisson.api.RateIntervalUnit;
import org.redisson.api.RateLimiterConfig;
import org.redisson.api.RateType;
import org.redisson.api.RedissonClient;

/** Orders to rate limiters, in the forms that every version has. What answers nothing answers true. */
@SuppressWarnings("deprecation")
final class RateLimiters {
  private final RedissonClient redisson;

  RateLimiters(RedissonClient redisson) {
    this.redisson = redisson;
  }

  Object perform(Order order) {
    RRateLimiter limiter = redisson.getRateLimiter(order.name());
    switch (order.op()) {
      case "trySetRate":
        return limiter.trySetRate(
            RateType.valueOf(order.mode()), order.count(), order.intervalMs(), RateIntervalUnit.MILLISECONDS);
      case "acquire":
        limiter.acquire(order.permits());
        return true;
      case "tryAcquire":
        return order.waitMs() == null
            ? limiter.tryAcquire(order.permits())
            : limiter.tryAcquire(order.permits(), order.waitMs(), MS);
      case "release":
        limiter.release(order.permits());
        return true;
      case "available":
        return limiter.availablePermits();
      case "config":
        RateLimiterConfig config = limiter.getConfig();
        return List.of(config.getRateType().name(), config.getRate(), config.getRateInterval());
      default:
        throw order.unknown();
    }
  }
}
