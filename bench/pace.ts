/**
 * How long everything takes: the full run, whose figures count, and the quick one, which shows that all rows work.
 */
export interface Pace {
  readonly name: 'full' | 'quick';
  readonly repetitions: number;
  /** How often a disturbed measurement is made again. Where it never is, nothing is measured to notice it either. */
  readonly again: number;
  readonly warmUpMs: number;
  readonly measureMs: number;
  readonly handovers: number;
  /** How many want the lock at once in a burst, and when it is given up. */
  readonly burstTasks: number;
  readonly burstMs: number;
  readonly guardRounds: number;
  readonly channelRounds: number;
  readonly holds: number;
  /** Of the many holds; each is renewed every third of it. */
  readonly watchdogMs: number;
  /** How long the renewals of many holds are watched, once for what they cost and once for the lag they make. */
  readonly renewalsMs: number;
  /** How long many idle waiters are watched: they look at their locks every 5 s. */
  readonly idleMs: number;
}

export const FULL: Pace = {
  name: 'full',
  repetitions: 3,
  again: 3,
  warmUpMs: 1_000,
  measureMs: 2_000,
  handovers: 50,
  burstTasks: 1_000,
  burstMs: 10_000,
  guardRounds: 400,
  channelRounds: 1_600,
  holds: 100_000,
  watchdogMs: 30_000,
  renewalsMs: 12_000,
  idleMs: 10_000,
};

/** A tenth of the holds, renewed ten times as often: the same number of renewals a second. */
export const QUICK: Pace = {
  name: 'quick',
  repetitions: 1,
  again: 0,
  warmUpMs: 100,
  measureMs: 150,
  handovers: 3,
  burstTasks: 100,
  burstMs: 1_500,
  guardRounds: 8,
  channelRounds: 8,
  holds: 10_000,
  watchdogMs: 3_000,
  renewalsMs: 2_000,
  idleMs: 2_000,
};
