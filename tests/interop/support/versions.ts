/** The versions of Redisson that are tried, and where they differ as far as these tests meet it. */

/**
 * The newest, which the Java program is compiled against, two older generations that it runs with as well, and the
 * last one that writes permits and rates in another layout.
 */
export type RedissonVersion = '4.7.0' | '3.52.0' | '3.17.7' | '3.16.8';

export interface Habits {
  /** Until 3.31 a fair waiter may sleep on when the holder's time ends and nobody calls it. */
  readonly fairWaitersMayMissTheEnd: boolean;
  /** Until 3.23 a writer that also reads does not count as a reader. */
  readonly writersCountAsReaders: boolean;
  /** Until 3.43 it is no error to unlock a read/write lock that is gone. */
  readonly canUnlockWhatIsGone: boolean;
  /** Until 3.20.0 the names of read/write locks are mapped twice. */
  readonly mapsReadWriteNamesTwice: boolean;
  /** Until 3.51 the names of fair queues are not mapped. */
  readonly mapsFairQueues: boolean;
}

const TODAY: Habits = {
  fairWaitersMayMissTheEnd: false,
  writersCountAsReaders: true,
  canUnlockWhatIsGone: false,
  mapsReadWriteNamesTwice: false,
  mapsFairQueues: true,
};

const FORMER: Habits = {
  fairWaitersMayMissTheEnd: true,
  writersCountAsReaders: false,
  canUnlockWhatIsGone: true,
  mapsReadWriteNamesTwice: true,
  mapsFairQueues: false,
};

const HABITS: Record<RedissonVersion, Habits> = {
  '4.7.0': TODAY,
  '3.52.0': TODAY,
  '3.17.7': FORMER,
  '3.16.8': FORMER,
};

export function habitsOf(version: RedissonVersion): Habits {
  return HABITS[version];
}
