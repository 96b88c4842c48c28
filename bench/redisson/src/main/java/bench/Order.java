package bench;

/**
 * What the bench orders; see bench/players/protocol.ts.
 *
 * @param cyclesEach how often each task uses the lock; null for as often as it can within the time
 */
record Order(
    String op, String key, int tasks, String keys, String prefix, String inside, long ms, Integer cyclesEach) {}
