/** What a client knows of the servers in charge, and where their records are. */
import { describe, expect, it } from 'vitest';
import { Guard } from '../../../src/requests/guard.ts';
import { slotOf } from '../../../src/slots.ts';
import { ManualClock } from '../../harness/manual-clock.ts';

const GRACE_MS = 30_000;
const [X, Y, Z] = ['ab'.repeat(20), 'cd'.repeat(20), 'ef'.repeat(20)];

/** The keys of a Cluster are where `homes` says, or else on `A`; one server has no name. */
function setUp({ isCluster = false, keyPrefix = '' } = {}) {
  const clock = new ManualClock();
  const homes = new Map<string, string>();
  const nodes = isCluster ? ['A', 'B'] : [''];
  const driver = {
    topology: isCluster ? 'cluster' : 'standalone',
    keyPrefix,
    nodeOf: (key: string) => (isCluster ? (homes.get(key) ?? 'A') : ''),
    nodes: () => nodes,
  } as const;
  const guard = new Guard({ clock, graceMs: GRACE_MS, driver });
  return { clock, guard, homes, nodes, trusted: () => guard.terms().trusted };
}

describe('a server in charge', () => {
  it('is trusted once it was seen in charge for longer than a grace, and not before', () => {
    const { clock, guard, trusted } = setUp();
    guard.saw('a', X);
    clock.jump(GRACE_MS);
    expect(trusted()).toBe('');
    clock.jump(1);
    expect(trusted()).toBe(X);
  });

  it('counts from the first time it was seen, however often and in whatever way', () => {
    const { clock, guard, trusted } = setUp();
    guard.saw('a', X);
    clock.jump(GRACE_MS);
    guard.saw('b', X);
    guard.sawAt('', X);
    clock.jump(1);
    expect(trusted()).toBe(X);
  });

  it('is trusted separately: a grace of one server is not that of another', () => {
    const { clock, guard, trusted } = setUp({ isCluster: true });
    guard.sawAt('A', X);
    clock.jump(GRACE_MS + 1);
    guard.sawAt('B', Y);
    expect(trusted()).toBe(X);
    clock.jump(GRACE_MS + 1);
    expect(trusted().split(' ').sort()).toEqual([X, Y]);
  });

  it('replaces the server before it, and has to be seen for a grace again', () => {
    const { clock, guard, trusted } = setUp();
    guard.saw('a', X);
    clock.jump(GRACE_MS + 1);
    guard.saw('a', Y);
    expect(trusted()).toBe('');
    clock.jump(GRACE_MS + 1);
    expect(trusted()).toBe(Y);
  });

  it('is forgotten once its node is gone, so that failovers do not accumulate', () => {
    const { clock, guard, homes, nodes, trusted } = setUp({ isCluster: true });
    guard.sawAt('A', X);
    guard.sawAt('B', Y);
    nodes.splice(0, 2, 'C', 'B');
    homes.set('a', 'C');
    guard.saw('a', Z);
    clock.jump(GRACE_MS + 1);
    expect(trusted().split(' ').sort()).toEqual([Y, Z]);
  });

  it('does not replace the server at the node where a moved slot is still looked for', () => {
    const { clock, guard, homes, trusted } = setUp({ isCluster: true });
    guard.sawAt('A', X);
    guard.sawAt('B', Y);
    clock.jump(GRACE_MS + 1);
    homes.set('moved', 'A');
    guard.saw('moved', Y);
    expect(trusted().split(' ').sort()).toEqual([X, Y]);
  });

  it('without an id is not recorded', () => {
    const { clock, guard, trusted } = setUp();
    guard.sawAt('', X);
    guard.saw('a', '');
    guard.sawAt('', '');
    clock.jump(GRACE_MS + 1);
    expect(trusted()).toBe(X);
  });

  it('is not trusted for time that the machine slept', () => {
    const { clock, guard, trusted } = setUp();
    guard.saw('a', X);
    clock.suspend(GRACE_MS + 1);
    expect(trusted()).toBe('');
  });
});

describe('the record', () => {
  it('is one for all keys on one server, behind the prefix', () => {
    const { guard } = setUp({ keyPrefix: 'app:' });
    expect(guard.recordFor('app:a')).toBe('app:holdfast_guard');
    expect(guard.recordFor('app:{b}')).toBe('app:holdfast_guard');
    expect(guard.terms().graceMs).toBe(GRACE_MS);
  });

  it('of a Cluster is one for each slot, in that slot', () => {
    const { guard } = setUp({ isCluster: true });
    const byslot = new Map<number, string>();
    for (let i = 0; i < 2_000; i += 1) {
      const name = i % 2 === 0 ? `lock:${i}` : `x{${i}}y`;
      const key = guard.recordFor(name);
      expect(key).toMatch(/^holdfast_guard:\{.+\}$/);
      expect(slotOf(key)).toBe(slotOf(name));
      expect(byslot.get(slotOf(name)) ?? key).toBe(key);
      byslot.set(slotOf(name), key);
    }
  });

  it('of a slot is the same for all clients, in whatever order they use slots', () => {
    const { guard } = setUp({ isCluster: true, keyPrefix: 'app:' });
    for (const name of ['one', 'two', '{three}', 'four']) {
      let first = 0;
      while (slotOf(String(first)) !== slotOf(name)) first += 1;
      expect(guard.recordFor(name)).toBe(`holdfast_guard:{${first}}`);
    }
  });
});
