/** What is known of replicas, and how many of them have to acknowledge a grant. */
import { describe, expect, it } from 'vitest';
import { ReplicaCounts, type ReplicaRequirement } from '../../../src/requests/replica-counts.ts';
import { ManualClock } from '../../harness/manual-clock.ts';

function setUp(requirement: ReplicaRequirement = 'majority', expected = 0) {
  const clock = new ManualClock();
  return {
    clock,
    replicaCounts: new ReplicaCounts({ clock, requirement, expected, topology: 'standalone' }),
  };
}

describe('how many have to acknowledge a grant', () => {
  it.each([
    ['auto', 0, 0],
    ['auto', 1, 1],
    ['auto', 5, 1],
    ['majority', 0, 0],
    ['majority', 1, 1],
    ['majority', 2, 1],
    ['majority', 3, 2],
    ['majority', 4, 2],
    [2, 0, 2],
    [2, 5, 2],
  ] as const)('%s of %d is %d', (requirement, connected, required) => {
    expect(setUp(requirement).replicaCounts.required('A', connected)).toBe(required);
  });

  it.each([
    ['auto', 0],
    ['majority', 1],
    [2, 2],
  ] as const)('if WAIT is not permitted, %s of one: %d', (requirement, required) => {
    const { replicaCounts } = setUp(requirement);
    replicaCounts.refused('A', 'NOPERM');
    expect(replicaCounts.required('A', 1)).toBe(required);
    replicaCounts.allowed('A');
    expect(replicaCounts.required('A', 1)).toBe(requirement === 2 ? 2 : 1);
  });

  it('a majority counts all expected replicas', () => {
    const { replicaCounts } = setUp('majority', 4);
    expect(replicaCounts.required('A', 1)).toBe(2);
    expect(replicaCounts.required('A', 6)).toBe(3);
  });

  it('a majority counts all replicas that were ever seen, even if they are doubted since', () => {
    const { replicaCounts } = setUp();
    for (const replicas of [1, 4, 0]) replicaCounts.counted('A', replicas);
    replicaCounts.doubt('A');
    expect(replicaCounts.required('A', 0)).toBe(2);
  });

  it('a replica that was seen once is required by a majority only', () => {
    for (const requirement of ['auto', 0] as const) {
      const { replicaCounts } = setUp(requirement, 4);
      replicaCounts.counted('A', 4);
      expect(replicaCounts.required('A', 0)).toBe(0);
    }
  });
});

describe('a primary that was never seen with a replica', () => {
  it.each(['never looked at', 'looked at'])(
    'requires as many as the other primary with the fewest, %s',
    (looked) => {
      const { replicaCounts } = setUp();
      replicaCounts.counted('A', 5);
      replicaCounts.counted('B', 3);
      replicaCounts.counted('C', 0);
      if (looked === 'looked at') replicaCounts.counted('D', 0);
      expect(replicaCounts.required('D', 0)).toBe(2);
    },
  );

  it('requires none if no other primary has a replica', () => {
    const { replicaCounts } = setUp();
    replicaCounts.counted('A', 0);
    expect(replicaCounts.required('B', 0)).toBe(0);
  });

  it('counts its own replicas as soon as it has one', () => {
    const { replicaCounts } = setUp();
    replicaCounts.counted('A', 5);
    replicaCounts.counted('B', 1);
    expect(replicaCounts.required('B', 0)).toBe(1);
  });
});

describe('a count of replicas', () => {
  it('is known for each primary, and old after a while', () => {
    const { replicaCounts, clock } = setUp();
    expect(replicaCounts.known('A')).toBeUndefined();
    replicaCounts.counted('A', 2);
    clock.jump(10_000);
    replicaCounts.counted('B', 1);
    expect(replicaCounts.known('A')).toEqual({ replicas: 2, isOld: false });
    clock.jump(1);
    expect(replicaCounts.known('A')).toEqual({ replicas: 2, isOld: true });
    expect(replicaCounts.known('B')).toEqual({ replicas: 1, isOld: false });
    replicaCounts.counted('A', 0);
    expect(replicaCounts.known('A')).toEqual({ replicas: 0, isOld: false });
  });

  it('is forgotten once it is doubted, for that primary only', () => {
    const { replicaCounts } = setUp();
    replicaCounts.counted('A', 2);
    replicaCounts.counted('B', 1);
    replicaCounts.doubt('A');
    expect(replicaCounts.known('A')).toBeUndefined();
    expect(replicaCounts.known('B')).toEqual({ replicas: 1, isOld: false });
  });
});

describe('the time until which no grant needs an acknowledgement', () => {
  const isNoneNeeded = ({ clock, replicaCounts }: ReturnType<typeof setUp>) =>
    clock.now() < replicaCounts.noneNeededUntil;

  it('never ends where none is wanted, and never begins where a number is', () => {
    const none = setUp(0);
    none.replicaCounts.doubt('');
    none.replicaCounts.allowed('');
    expect(isNoneNeeded(none)).toBe(true);
    const two = setUp(2);
    two.replicaCounts.counted('', 0);
    expect(isNoneNeeded(two)).toBe(false);
  });

  it('begins with a count of none, and ends with the count', () => {
    const given = setUp('auto');
    expect(isNoneNeeded(given)).toBe(false);
    given.replicaCounts.counted('', 0);
    given.clock.jump(9_999);
    expect(isNoneNeeded(given)).toBe(true);
    given.clock.jump(1);
    expect(isNoneNeeded(given)).toBe(false);
  });

  it('ends when a replica is counted, the count is in doubt, or the primary permits waiting again', () => {
    const given = setUp('auto');
    const { replicaCounts } = given;
    const ends = [
      () => replicaCounts.counted('', 1),
      () => replicaCounts.doubt(''),
      () => replicaCounts.allowed(''),
    ];
    for (const end of ends) {
      replicaCounts.counted('', 0);
      expect(isNoneNeeded(given)).toBe(true);
      end();
      expect(isNoneNeeded(given)).toBe(false);
    }
  });

  it('never begins in a Cluster, where each primary has its own count', () => {
    const clock = new ManualClock();
    const replicaCounts = new ReplicaCounts({ clock, requirement: 'auto', expected: 0, topology: 'cluster' });
    replicaCounts.counted('A', 0);
    expect(isNoneNeeded({ clock, replicaCounts })).toBe(false);
  });
});
