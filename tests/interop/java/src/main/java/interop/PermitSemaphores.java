package interop;

import static interop.Order.MS;

import java.util.List;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RedissonClient;

/**
 * Orders to permit-expirable semaphores. Whoever acquires is answered with a list of ids, empty when there was
 * none to be had. What answers nothing answers true.
 */
final class PermitSemaphores {
  private final RedissonClient redisson;

  PermitSemaphores(RedissonClient redisson) {
    this.redisson = redisson;
  }

  Object perform(Order order) throws InterruptedException {
    RPermitExpirableSemaphore permits = redisson.getPermitExpirableSemaphore(order.name());
    switch (order.op()) {
      case "trySetPermits":
        return permits.trySetPermits(order.permits());
      case "setPermits":
        permits.setPermits(order.permits());
        return true;
      case "addPermits":
        permits.addPermits(order.permits());
        return true;
      case "acquire":
        return acquire(permits, order);
      case "tryAcquire":
        return tryAcquire(permits, order);
      case "release":
        permits.release(order.ids().get(0));
        return true;
      case "tryRelease":
        return permits.tryRelease(order.ids().get(0));
      case "tryReleaseAll":
        return permits.tryRelease(order.ids());
      case "updateLease":
        return permits.updateLeaseTime(order.ids().get(0), order.leaseMs(), MS);
      case "leaseMs":
        return permits.getLeaseTime(order.ids().get(0));
      case "available":
        return permits.availablePermits();
      case "acquired":
        return permits.acquiredPermits();
      case "permits":
        return permits.getPermits();
      default:
        throw order.unknown();
    }
  }

  /** Older versions know only the form for one permit. */
  private static List<String> acquire(RPermitExpirableSemaphore permits, Order order)
      throws InterruptedException {
    if (order.permits() == 1) {
      return List.of(permits.acquire(order.leaseOrNone(), MS));
    }
    return permits.acquire(order.permits(), order.leaseOrNone(), MS);
  }

  private static List<String> tryAcquire(RPermitExpirableSemaphore permits, Order order)
      throws InterruptedException {
    if (order.permits() == 1) {
      String id = permits.tryAcquire(order.waitOrNone(), order.leaseOrNone(), MS);
      return id == null ? List.of() : List.of(id);
    }
    return permits.tryAcquire(order.permits(), order.waitOrNone(), order.leaseOrNone(), MS);
  }
}
