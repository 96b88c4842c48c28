/** The harness itself: a clock that lies only when told to, waits that end, children that are heard. */
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { spawnChild } from './child.ts';
import { ManualClock } from './manual-clock.ts';
import { eventually } from './wait.ts';

describe('the manual clock', () => {
  it('fires timers in the order of their times, each at its own time', async () => {
    const clock = new ManualClock();
    const fired: [string, number][] = [];
    const note = (name: string) => () => fired.push([name, clock.now()]);
    clock.after(30, note('late'));
    clock.after(10, note('early'));
    clock.after(30, note('late, set second'));
    clock.after(31, note('not yet'));
    clock.after(5, note('cancelled'))();
    await clock.advance(30);
    expect(fired).toEqual([
      ['early', 1_010],
      ['late', 1_030],
      ['late, set second', 1_030],
    ]);
    expect([clock.now(), clock.pendingTimers]).toEqual([1_030, 1]);
  });

  it('fires timers that are set on the way, by work that takes turns of the event loop', async () => {
    const clock = new ManualClock();
    const ticks: number[] = [];
    const tick = async () => {
      ticks.push(clock.now());
      await new Promise(setImmediate);
      clock.after(10, () => void tick());
    };
    clock.after(10, () => void tick());
    await clock.advance(35);
    expect(ticks).toEqual([1_010, 1_020, 1_030]);
  });

  it('jumps over timers, which then fire late, and suspends without moving', async () => {
    const clock = new ManualClock();
    const fired: number[] = [];
    clock.after(10, () => fired.push(clock.now()));
    clock.jump(500);
    expect([clock.now(), clock.pendingTimers, fired.length]).toEqual([1_500, 1, 0]);
    await clock.advance(0);
    expect(fired).toEqual([1_500]);
    clock.suspend(60_000);
    expect([clock.now(), clock.suspendedMs()]).toEqual([1_500, 60_000]);
  });
});

describe('eventually', () => {
  it('returns the first result that is not false', async () => {
    let calls = 0;
    const answer = await eventually(() => {
      calls += 1;
      if (calls === 1) throw new Error('not yet');
      return calls === 3 ? 'three' : false;
    });
    expect(answer).toBe('three');
  });

  it('ends with the last error', async () => {
    let calls = 0;
    const never = eventually(
      () => {
        calls += 1;
        throw new Error(`call ${calls}`);
      },
      { withinMs: 30 },
    );
    await expect(never).rejects.toThrow('still so after 30 ms');
    await expect(never).rejects.toThrow(`call ${calls}`);
  });
});

describe('a child', () => {
  const echo = fileURLToPath(new URL('./children/echoes.ts', import.meta.url));

  it('exchanges JSON lines, in order', async () => {
    const child = spawnChild(echo, { args: ['given'], env: { GIVEN: 'too' } });
    expect(await child.next()).toEqual({ pid: child.pid, arg: 'given', env: 'too' });
    child.send({ n: 1 });
    child.send({ n: 2 });
    child.send({ n: 3 });
    expect(await child.next(({ n }) => n === 2)).toEqual({ n: 2 });
    expect(await child.next()).toEqual({ n: 3 });
    expect(child.messages).toHaveLength(4);
  });

  it('that ends reports how, and rejects pending requests', async () => {
    const child = spawnChild(echo);
    await child.next();
    const awaited = child.next();
    child.kill('SIGTERM');
    expect(await child.exited).toEqual({ code: null, signal: 'SIGTERM' });
    await expect(awaited).rejects.toThrow('ended without the message awaited');
  });
});
