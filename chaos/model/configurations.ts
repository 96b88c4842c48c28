/**
 * What is searched: the right protocol in several configurations, each known mistake, and the situations that a search
 * must reach to prove anything. The names of mistakes and situations are switches of the model; the bounds are macros.
 */

/** What the model promises. */
export type Property = 'exclusion' | 'ended' | 'tokens' | 'waiters' | 'time' | 'barred';

export const PROPERTIES: Readonly<Record<Property, string>> = {
  exclusion: 'two tasks believe at once that they hold the lock',
  ended: 'a hold that has ended begins again on the server',
  tokens: 'a token does not rise',
  waiters: 'a waiter does not get the lock within its time after the faults',
  time: 'the run never ends while time stands still',
  barred: 'the tombstone bars an attempt that its caller still wants',
};

export interface Configuration {
  readonly name: string;
  readonly what: string;
  /** Switches and bounds, as the preprocessor takes them. */
  readonly definitions: readonly string[];
  /** Waiters are in within so many ticks after the faults have stopped, and not within one tick less. */
  readonly within: number;
  /** How many states there are: a search that finds another number searched another model. */
  readonly states: number;
  /** Large ones take more than ten seconds each. */
  readonly size: 'small' | 'large';
}

export const CONFIGURATIONS = [
  {
    name: 'lease',
    what: 'leases, drift, renewals, one late copy of a request',
    definitions: ['LEASE=4', 'LATE=1'],
    within: 4,
    states: 2_084_175,
    size: 'small',
  },
  {
    name: 'lease-copies',
    what: 'the same with a shorter lease and two late copies at once',
    definitions: ['LEASE=3', 'LATE=2'],
    within: 3,
    states: 5_373_455,
    size: 'large',
  },
  {
    name: 'lease-plain',
    what: 'releases leave a marker only where an attempt got no answer; each request is written once',
    definitions: ['PLAIN', 'LEASE=2', 'LATE=1'],
    within: 2,
    states: 5_301_888,
    size: 'large',
  },
  {
    name: 'guard',
    what: 'promotions and restarts, with the guard; the grace is as long as the lease',
    definitions: ['GUARD', 'LEASE=3', 'GRACE=3'],
    within: 5,
    states: 1_454_956,
    size: 'small',
  },
  {
    name: 'guard-long-lease',
    what: 'the same with a lease longer than the grace',
    definitions: ['GUARD', 'LEASE=3', 'GRACE=2'],
    within: 4,
    states: 631_733,
    size: 'small',
  },
  {
    name: 'guard-copies',
    what: 'the guard with shorter times and one late copy of a request',
    definitions: ['GUARD', 'LEASE=2', 'GRACE=2', 'LATE=1'],
    within: 4,
    states: 3_988_718,
    size: 'large',
  },
  {
    name: 'tokens',
    what: 'the guard with fencing tokens; the clock of a promoted server is behind by up to a grace',
    definitions: ['GUARD', 'TOKENS', 'LEASE=2', 'GRACE=2', 'BEHIND=2'],
    within: 4,
    states: 1_807_278,
    size: 'small',
  },
  {
    name: 'passing',
    what: 'one process of two passes the lock on between its two tasks',
    definitions: ['PASSING', 'LEASE=4'],
    within: 6,
    states: 1_014_068,
    size: 'small',
  },
  {
    name: 'passing-guard',
    what: 'passing on, with promotions, restarts and the guard',
    definitions: ['PASSING', 'GUARD', 'LEASE=3', 'GRACE=3'],
    within: 7,
    states: 9_887_802,
    size: 'large',
  },
] as const satisfies readonly Configuration[];

export type ConfigurationName = (typeof CONFIGURATIONS)[number]['name'];

export function configurationOf(name: ConfigurationName): Configuration {
  const found = CONFIGURATIONS.find((configuration) => configuration.name === name);
  if (found === undefined) throw new Error(`There is no configuration named ${name}`);
  return found;
}

export interface Mistake {
  /** The switch that makes it. */
  readonly name: string;
  readonly what: string;
  readonly configuration: ConfigurationName;
  /** What it breaks, and no other property before it. */
  readonly breaks: Property;
}

export const MISTAKES: readonly Mistake[] = [
  {
    name: 'DEADLINE_FROM_REPLY',
    what: 'the deadline counts from the answer',
    configuration: 'lease',
    breaks: 'exclusion',
  },
  {
    name: 'NO_DRIFT_ALLOWANCE',
    what: 'the holder relies on the whole lease, without an allowance for drift',
    configuration: 'lease',
    breaks: 'exclusion',
  },
  {
    name: 'BELIEVE_LATE_GRANT',
    what: 'a grant whose deadline has passed is handed out',
    configuration: 'lease',
    breaks: 'exclusion',
  },
  {
    name: 'RELEASE_ANY_OWNER',
    what: 'a release does not look at the owner',
    configuration: 'lease',
    breaks: 'exclusion',
  },
  {
    name: 'NO_MARKER',
    what: 'a release leaves no marker: a late copy of the acquire takes the lock',
    configuration: 'lease',
    breaks: 'ended',
  },
  {
    name: 'PLAIN_IN_DOUBT',
    what: 'a release leaves no marker though an attempt got no answer',
    configuration: 'lease-plain',
    breaks: 'ended',
  },
  {
    name: 'WAKE_ONLY',
    what: 'waiters sleep until a message arrives, and do not poll',
    configuration: 'lease',
    breaks: 'waiters',
  },
  {
    name: 'ASK_WITHOUT_PAUSE',
    what: 'a waiter attempts again at once when the lock is taken',
    configuration: 'lease',
    breaks: 'time',
  },
  {
    name: 'STRANGERS_AT_ONCE',
    what: 'holders reclaim, and other owners get the lock without a grace',
    configuration: 'guard',
    breaks: 'exclusion',
  },
  {
    name: 'GRACE_BY_CLIENT_CLOCK',
    what: 'the end of the grace is written and read by the clocks of clients, which show different times',
    configuration: 'guard',
    breaks: 'exclusion',
  },
  {
    name: 'GRACE_STARTS_ANEW',
    what: 'every refused attempt starts the grace anew',
    configuration: 'guard',
    breaks: 'waiters',
  },
  {
    name: 'TRUST_LONG_LEASE',
    what: 'a holder relies on a lease longer than the grace without an answer of the server in between',
    configuration: 'guard-long-lease',
    breaks: 'exclusion',
  },
  {
    name: 'TOKEN_BY_INCR',
    what: 'the token is the last one plus one, whatever the clock shows',
    configuration: 'tokens',
    breaks: 'tokens',
  },
  {
    name: 'PASS_AFTER_DEADLINE',
    what: 'a lock is passed on after its deadline',
    configuration: 'passing',
    breaks: 'exclusion',
  },
  {
    name: 'PASS_WITH_FRESH_LEASE',
    what: 'the next task counts its deadline from when the lock was passed on',
    configuration: 'passing',
    breaks: 'exclusion',
  },
  {
    name: 'PASS_WITHOUT_BUDGET',
    what: 'a process passes the lock on for as long as its tasks wait',
    configuration: 'passing',
    breaks: 'waiters',
  },
  {
    name: 'NO_STAND_BACK',
    what: 'a process that releases the lock attempts again at once though others wait',
    configuration: 'passing',
    breaks: 'waiters',
  },
];

export interface Situation {
  /** The value of the macro SEE that stops the search there. */
  readonly name: string;
  readonly what: string;
  readonly configuration: ConfigurationName;
}

export const SITUATIONS: readonly Situation[] = [
  { name: 'TOLD', what: 'a holder is told that it has lost the lock', configuration: 'lease' },
  { name: 'LATE_GRANT', what: 'a grant arrives after its deadline', configuration: 'lease' },
  { name: 'BARRED', what: 'the marker bars a late copy of an acquire', configuration: 'lease' },
  {
    name: 'GIVEN_BACK',
    what: 'a holder reclaims a hold that the server has forgotten',
    configuration: 'guard',
  },
  { name: 'TAKEN', what: 'a released lock comes back in place of a forgotten one', configuration: 'guard' },
  {
    name: 'TOKEN_BY_CLOCK',
    what: 'a server without the last token gives a higher one',
    configuration: 'tokens',
  },
  { name: 'PASSED_ON', what: 'a lock is passed on', configuration: 'passing' },
];
