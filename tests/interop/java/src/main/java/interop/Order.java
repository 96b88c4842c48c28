package interop;

import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * One line of input: which thread shall do what to which object. What an order leaves out is null.
 *
 * @param id repeated in the answer
 * @param thread a name for the Java thread, hence for the owner; orders of one thread run one after the other
 * @param kind the object's type, for example {@code fair}
 * @param name the object's name; of several locks taken as one, {@code names}
 * @param op what to do
 * @param mode of a rate: {@code OVERALL} or {@code PER_CLIENT}
 * @param ids of permits
 */
public record Order(
    long id,
    String thread,
    String kind,
    String name,
    List<String> names,
    String op,
    Long waitMs,
    Long leaseMs,
    Long count,
    Long intervalMs,
    String mode,
    List<String> ids) {

  static final TimeUnit MS = TimeUnit.MILLISECONDS;

  /** The lease, or Redisson's way to say that there is none. */
  long leaseOrNone() {
    return leaseMs == null ? -1 : leaseMs;
  }

  /** The wait, or none at all. */
  long waitOrNone() {
    return waitMs == null ? 0 : waitMs;
  }

  /** How many permits; one when nothing is said. */
  int permits() {
    return count == null ? 1 : Math.toIntExact(count);
  }

  IllegalArgumentException unknown() {
    return new IllegalArgumentException("unknown order: " + kind + "." + op);
  }
}
