/** One rate for both languages. */
import { describe, expect, it } from 'vitest';
import { OptionError } from '../../../src/index.ts';
import { ratePermitsKey } from '../../../src/keys.ts';
import type { RawReply } from '../../../src/testing/index.ts';
import { randomName } from '../../harness/names.ts';
import { eventually } from '../../harness/wait.ts';
import type { Interop } from '../support/context.ts';
import { JavaRateLimiter } from '../support/java-objects.ts';
import { givingUp, IN_TIME } from '../support/moments.ts';
import { PLAIN_AND_BRACED } from '../support/names.ts';

const LONG_MS = 600_000;
/** Long enough for some calls within it. */
const INTERVAL_MS = 4_000;
const SHORT_INTERVAL_MS = 1_000;

export function describeRateLimiter(interop: Interop): void {
  const theirs = (name: string) => new JavaRateLimiter(interop.java, 'rate', [name]);
  const ours = (name: string) => interop.node.getRateLimiter(name);

  /** When the permits were taken that were taken last, by the server's own record of it. */
  async function lastTakenAt(name: string): Promise<number> {
    const history = ratePermitsKey(name);
    const last = await interop.place.command(history, 'ZRANGE', history, -1, -1, 'WITHSCORES');
    return Number((last as RawReply[])[1]);
  }

  describe.each(PLAIN_AND_BRACED)('a rate limiter under %s', (_title, makeName) => {
    it.each(['Java', 'Node'])('set by %s is read and used up by both', async (setter) => {
      const name = makeName();
      const [java, node] = [theirs(name), ours(name)];
      const rate = { mode: 'overall', rate: 5, intervalMs: LONG_MS } as const;
      const set = setter === 'Java' ? java.trySetRate('OVERALL', 5, LONG_MS) : node.trySetRate(rate);
      expect(await set).toBe(true);
      expect(await java.trySetRate('OVERALL', 9, 1)).toBe(false);
      expect(await node.trySetRate({ ...rate, rate: 9 })).toBe(false);
      expect(await java.config()).toEqual(['OVERALL', 5, LONG_MS]);
      expect(await node.getConfig()).toMatchObject(rate);
      expect(await java.tryAcquire(2)).toBe(true);
      expect(await node.tryAcquire(2)).toBe(true);
      expect([await java.available(), await node.availablePermits()]).toEqual([1, 1]);
      expect(await java.tryAcquire(2)).toBe(false);
      expect(await node.tryAcquire(2)).toBe(false);
      expect(await node.tryAcquire()).toBe(true);
      expect(await givingUp((waitMs) => java.tryAcquire(1, { waitMs }))).toBe(false);
      expect(await givingUp((waitMs) => node.tryAcquire(1, { waitMs }))).toBe(false);
    });

    it('per client, each language has its own', async () => {
      const name = makeName();
      await ours(name).trySetRate({ mode: 'perClient', rate: 2, intervalMs: LONG_MS });
      expect(await theirs(name).config()).toEqual(['PER_CLIENT', 2, LONG_MS]);
      expect([await theirs(name).tryAcquire(2), await ours(name).tryAcquire(2)]).toEqual([true, true]);
      expect([await theirs(name).tryAcquire(), await ours(name).tryAcquire()]).toEqual([false, false]);
    });
  });

  describe('a rate limiter', () => {
    it("each side waits until the interval of the other's permits has ended", async () => {
      const name = randomName('interop');
      const node = ours(name);
      await node.trySetRate({ mode: 'overall', rate: 300, intervalMs: INTERVAL_MS });
      // A count that does not fit into one byte, and one that does.
      expect(await node.tryAcquire(256)).toBe(true);
      expect(await node.tryAcquire(44)).toBe(true);
      const nodeTookAt = await lastTakenAt(name);
      expect(await theirs(name).tryAcquire()).toBe(false);
      await theirs(name).acquire(300);
      const javaTookAt = await lastTakenAt(name);
      expect(javaTookAt - nodeTookAt).toBeGreaterThanOrEqual(INTERVAL_MS);
      expect(await node.tryAcquire()).toBe(false);
      await node.acquire(300);
      expect((await lastTakenAt(name)) - javaTookAt).toBeGreaterThanOrEqual(INTERVAL_MS);
    });

    it('never grants more than its rate within any interval, to both together', async () => {
      const name = randomName('interop');
      const rate = 5;
      await ours(name).trySetRate({ mode: 'overall', rate, intervalMs: SHORT_INTERVAL_MS });
      const grants: { askedAt: number; answeredAt: number }[] = [];
      const takeFour = async (tryToTake: () => Promise<boolean>) => {
        for (let taken = 0; taken < 4; taken += 1) {
          await eventually(async () => {
            const askedAt = Date.now();
            if (!(await tryToTake())) return false;
            grants.push({ askedAt, answeredAt: Date.now() });
            return true;
          }, IN_TIME);
        }
      };
      const threads = [theirs(name), theirs(name)];
      await Promise.all([
        ...threads.map((java) => takeFour(() => java.tryAcquire())),
        ...[1, 2].map(() => takeFour(() => ours(name).tryAcquire())),
      ]);
      expect(grants).toHaveLength(16);
      // Each was granted between question and answer: those that fit in between as a whole are surely within.
      for (const { askedAt: from } of grants) {
        const within = grants.filter(
          ({ askedAt, answeredAt }) => askedAt >= from && answeredAt < from + SHORT_INTERVAL_MS,
        );
        expect(within.length).toBeLessThanOrEqual(rate);
      }
    });

    it('is full again for both after an interval', async () => {
      const name = randomName('interop');
      await theirs(name).trySetRate('OVERALL', 3, INTERVAL_MS);
      expect([await theirs(name).tryAcquire(2), await ours(name).tryAcquire()]).toEqual([true, true]);
      await eventually(async () => (await ours(name).availablePermits()) === 3, IN_TIME);
      expect(await theirs(name).available()).toBe(3);
      expect(await theirs(name).tryAcquire(3)).toBe(true);
      expect(await ours(name).tryAcquire()).toBe(false);
    });

    it('both refuse to wait for more than the rate', async () => {
      const name = randomName('interop');
      await theirs(name).trySetRate('OVERALL', 3, LONG_MS);
      await expect(theirs(name).tryAcquire(4)).rejects.toThrow('RedisException');
      await expect(ours(name).tryAcquire(4)).rejects.toThrow(OptionError);
    });
  });
}

/** Since 3.52. */
export function describeRateRelease(interop: Interop): void {
  it('permits of a rate limiter that one side releases are free for the other', async () => {
    const name = randomName('interop');
    const theirs = new JavaRateLimiter(interop.java, 'rate', [name]);
    const ours = interop.node.getRateLimiter(name);
    await ours.trySetRate({ mode: 'overall', rate: 5, intervalMs: LONG_MS });
    expect(await ours.tryAcquire(5)).toBe(true);
    await ours.release(2);
    expect(await theirs.tryAcquire(2)).toBe(true);
    expect(await theirs.tryAcquire()).toBe(false);
    await theirs.release(1);
    expect(await ours.tryAcquire()).toBe(true);
    expect(await ours.tryAcquire()).toBe(false);
  });
}
