package interop;

import static interop.Order.MS;

import org.redisson.api.RFencedLock;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** Orders to locks of every kind. What answers nothing answers true. */
final class Locks {
  private final RedissonClient redisson;

  Locks(RedissonClient redisson) {
    this.redisson = redisson;
  }

  Object perform(Order order) throws InterruptedException {
    RLock lock = lock(order);
    switch (order.op()) {
      case "lock":
        if (order.leaseMs() == null) {
          lock.lock();
        } else {
          lock.lock(order.leaseMs(), MS);
        }
        return true;
      case "tryLock":
        if (order.waitMs() == null && order.leaseMs() == null) {
          return lock.tryLock();
        }
        return lock.tryLock(order.waitOrNone(), order.leaseOrNone(), MS);
      case "unlock":
        lock.unlock();
        return true;
      case "forceUnlock":
        return lock.forceUnlock();
      case "isLocked":
        return lock.isLocked();
      case "holdCount":
        return lock.getHoldCount();
      case "remainingMs":
        return lock.remainTimeToLive();
      case "lockToken":
        return ((RFencedLock) lock).lockAndGetToken();
      case "tryLockToken":
        return ((RFencedLock) lock).tryLockAndGetToken(order.waitOrNone(), order.leaseOrNone(), MS);
      case "token":
        return ((RFencedLock) lock).getToken();
      default:
        throw order.unknown();
    }
  }

  /** The lock that an order is about. A new object each time: in older versions one remembers its last lease. */
  RLock lock(Order order) {
    String name = order.name();
    return switch (order.kind()) {
      case "lock" -> redisson.getLock(name);
      case "nonReentrant" -> redisson.getNonReentrantLock(name);
      case "fair" -> redisson.getFairLock(name);
      case "nonReentrantFair" -> redisson.getNonReentrantFairLock(name);
      case "spin" -> redisson.getSpinLock(name);
      case "fenced" -> redisson.getFencedLock(name);
      case "read" -> redisson.getReadWriteLock(name).readLock();
      case "write" -> redisson.getReadWriteLock(name).writeLock();
      case "multi" -> redisson.getMultiLock(
          order.names().stream().map(redisson::getLock).toArray(RLock[]::new));
      default -> throw order.unknown();
    };
  }
}
