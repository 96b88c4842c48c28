/** What a client knows of the servers in charge, and where their records are. */
import { describe, expect, it } from 'vitest';
import { Guard } from '../../../src/runtime/guard.ts';
import { slotOf } from '../../../src/slots.ts';
import { ManualClock } from '../../harness/manual-clock.ts';

const GRACE_MS = 30_000;
const [X, Y] = ['ab'.repeat(20), 'cd'.repeat(20)];

function setUp({ isCluster = false, keyPrefix = '' } = {}) {
  const clock = new ManualClock();
  const guard = new Guard({ clock, graceMs: GRACE_MS, isCluster, keyPrefix });
  return { clock, guard, trusted: () => guard.termsFor('a').trusted };
}

describe('a server in charge', () => {
  it('is trusted once it was seen for longer than a grace, and not before', () => {
    const { clock, guard, trusted } = setUp();
    guard.saw(X);
    clock.jump(GRACE_MS);
    expect(trusted()).toBe('');
    clock.jump(1);
    expect(trusted()).toBe(X);
  });

  it('is seen since the first time, however often it is seen', () => {
    const { clock, guard, trusted } = setUp();
    guard.saw(X);
    clock.jump(GRACE_MS);
    guard.saw(X);
    clock.jump(1);
    expect(trusted()).toBe(X);
  });

  it('is trusted for itself: a grace of one is none of another', () => {
    const { clock, guard, trusted } = setUp();
    guard.saw(X);
    clock.jump(GRACE_MS + 1);
    guard.saw(Y);
    expect(trusted()).toBe(X);
    clock.jump(GRACE_MS + 1);
    expect(trusted().split(' ').sort()).toEqual([X, Y]);
  });

  it('that tells no id is nobody', () => {
    const { clock, guard, trusted } = setUp();
    guard.saw('');
    guard.saw(X);
    clock.jump(GRACE_MS + 1);
    expect(trusted()).toBe(X);
  });

  it('is not trusted for time that the machine slept', () => {
    const { clock, guard, trusted } = setUp();
    guard.saw(X);
    clock.suspend(GRACE_MS + 1);
    expect(trusted()).toBe('');
  });
});

describe('the record', () => {
  it('is one for all keys where there is one server, behind the prefix', () => {
    const { guard } = setUp({ keyPrefix: 'app:' });
    expect(guard.termsFor('app:a').key).toBe('app:holdfast_guard');
    expect(guard.termsFor('app:{b}').key).toBe('app:holdfast_guard');
    expect(guard.termsFor('a').graceMs).toBe(GRACE_MS);
  });

  it('of a Cluster is one for each slot, in that slot', () => {
    const { guard } = setUp({ isCluster: true });
    const byslot = new Map<number, string>();
    for (let i = 0; i < 2_000; i += 1) {
      const name = i % 2 === 0 ? `lock:${i}` : `x{${i}}y`;
      const { key } = guard.termsFor(name);
      expect(key).toMatch(/^holdfast_guard:\{.+\}$/);
      expect(slotOf(key)).toBe(slotOf(name));
      expect(byslot.get(slotOf(name)) ?? key).toBe(key);
      byslot.set(slotOf(name), key);
    }
  });

  it('of a slot is the same for all clients, in whatever order they come upon slots', () => {
    const { guard } = setUp({ isCluster: true, keyPrefix: 'app:' });
    for (const name of ['one', 'two', '{three}', 'four']) {
      let first = 0;
      while (slotOf(String(first)) !== slotOf(name)) first += 1;
      expect(guard.termsFor(name).key).toBe(`holdfast_guard:{${first}}`);
    }
  });
});
