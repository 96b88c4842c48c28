package interop;

import static interop.Order.MS;

import org.redisson.api.RCountDownLatch;
import org.redisson.api.RedissonClient;

/** Orders to count-down latches. What answers nothing answers true. */
final class Latches {
  private final RedissonClient redisson;

  Latches(RedissonClient redisson) {
    this.redisson = redisson;
  }

  Object perform(Order order) throws InterruptedException {
    RCountDownLatch latch = redisson.getCountDownLatch(order.name());
    switch (order.op()) {
      case "trySetCount":
        return latch.trySetCount(order.count());
      case "countDown":
        latch.countDown();
        return true;
      case "getCount":
        return latch.getCount();
      case "await":
        if (order.waitMs() == null) {
          latch.await();
          return true;
        }
        return latch.await(order.waitMs(), MS);
      case "delete":
        return latch.delete();
      default:
        throw order.unknown();
    }
  }
}
