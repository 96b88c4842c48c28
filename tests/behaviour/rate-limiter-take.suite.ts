/** `take` of the rate limiter: one try that answers what is left and when to come back. */
import { expect, it } from 'vitest';
import { ClosedError, DriverError, OptionError } from '../../src/index.ts';
import { randomName } from '../harness/names.ts';
import { type Context, describeThrough } from './support/context.ts';
import { rejection } from './support/moments.ts';
import { bytesOn, historyKey } from './support/rate-limiter-by-hand.ts';

const INTERVAL_MS = 600_000;

async function prepared(context: Context, rate: number) {
  const client = await context.client();
  const limiter = client.getRateLimiter(randomName());
  await limiter.trySetRate({ mode: 'overall', rate, intervalMs: INTERVAL_MS });
  return { client, raw: await context.raw(), limiter };
}

function describeTake(context: Context): void {
  it('counts down what remains, and takes nothing when it refuses', async () => {
    const { limiter } = await prepared(context, 5);
    expect(await limiter.take()).toEqual({ granted: true, remaining: 4, retryAfterMs: 0 });
    expect(await limiter.take(3)).toEqual({ granted: true, remaining: 1, retryAfterMs: 0 });
    const refused = await limiter.take(2);
    expect(refused).toMatchObject({ granted: false, remaining: 1 });
    expect(refused.retryAfterMs).toBeGreaterThan(INTERVAL_MS - 60_000);
    expect(refused.retryAfterMs).toBeLessThanOrEqual(INTERVAL_MS);
    expect(await limiter.availablePermits()).toBe(1);
    expect(await limiter.take(1)).toEqual({ granted: true, remaining: 0, retryAfterMs: 0 });
    expect(await limiter.take()).toMatchObject({ granted: false, remaining: 0 });
  });

  it('says when there are enough for this very request, and keeps the word', async () => {
    const { raw, limiter } = await prepared(context, 2);
    const history = historyKey(limiter.name);
    await limiter.take();
    for (const { entry } of await bytesOn(raw, history))
      await raw.command('ZINCRBY', history, -200_000, entry);
    await limiter.take();
    const [one, two] = [await limiter.take(1), await limiter.take(2)];
    expect(one.retryAfterMs).toBeLessThanOrEqual(INTERVAL_MS - 200_000);
    expect(two.retryAfterMs).toBeGreaterThan(INTERVAL_MS - 60_000);
    // As if that time had passed.
    for (const { entry } of await bytesOn(raw, history)) {
      await raw.command('ZINCRBY', history, -one.retryAfterMs, entry);
    }
    expect(await limiter.take(1)).toEqual({ granted: true, remaining: 0, retryAfterMs: 0 });
  });

  it('grants what there is to those who ask at the same time, each with another rest', async () => {
    const { limiter } = await prepared(context, 10);
    const answers = await Promise.all(Array.from({ length: 15 }, () => limiter.take()));
    const granted = answers.filter((answer) => answer.granted);
    expect(granted.map(({ remaining }) => remaining).sort((a, b) => a - b)).toEqual([
      0, 1, 2, 3, 4, 5, 6, 7, 8, 9,
    ]);
    for (const { remaining, retryAfterMs } of answers.filter((answer) => !answer.granted)) {
      expect(remaining).toBe(0);
      expect(retryAfterMs).toBeGreaterThan(0);
    }
  });

  it('does not wait behind those who wait', async () => {
    const { limiter } = await prepared(context, 1);
    await limiter.take();
    const giveUp = new AbortController();
    const waiting = limiter.acquire(1, { signal: giveUp.signal });
    expect(await limiter.take()).toMatchObject({ granted: false });
    giveUp.abort();
    await rejection(waiting);
  });

  it.each([0, -1, 1.5, Number.NaN, 2 ** 32, '1', null])('refuses %s permits', async (wrong) => {
    const { limiter } = await prepared(context, 5);
    expect(await rejection(limiter.take(wrong as number))).toBeInstanceOf(OptionError);
    expect(await limiter.availablePermits()).toBe(5);
  });

  it('refuses more than the rate, a limiter without a rate, and after close', async () => {
    const { client, limiter } = await prepared(context, 5);
    expect(await rejection(limiter.take(6))).toBeInstanceOf(OptionError);
    const unset = await rejection(client.getRateLimiter(randomName()).take());
    expect(unset).toBeInstanceOf(DriverError);
    expect(unset).toMatchObject({ message: expect.stringContaining('trySetRate') });
    expect(await limiter.availablePermits()).toBe(5);
    await client.close();
    expect(await rejection(limiter.take())).toBeInstanceOf(ClosedError);
  });
}

describeThrough('one try of a rate limiter', describeTake);
