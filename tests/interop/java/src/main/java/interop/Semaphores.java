package interop;

import static interop.Order.MS;

import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;

/** Orders to semaphores, in the forms that every version has. What answers nothing answers true. */
@SuppressWarnings("deprecation")
final class Semaphores {
  private final RedissonClient redisson;

  Semaphores(RedissonClient redisson) {
    this.redisson = redisson;
  }

  Object perform(Order order) throws InterruptedException {
    RSemaphore semaphore = redisson.getSemaphore(order.name());
    switch (order.op()) {
      case "trySetPermits":
        return semaphore.trySetPermits(order.permits());
      case "acquire":
        semaphore.acquire(order.permits());
        return true;
      case "tryAcquire":
        return semaphore.tryAcquire(order.permits(), order.waitOrNone(), MS);
      case "release":
        semaphore.release(order.permits());
        return true;
      case "releaseIfExists":
        return semaphore.releaseIfExists(order.permits());
      case "addPermits":
        semaphore.addPermits(order.permits());
        return true;
      case "drainPermits":
        return semaphore.drainPermits();
      case "available":
        return semaphore.availablePermits();
      default:
        throw order.unknown();
    }
  }
}
