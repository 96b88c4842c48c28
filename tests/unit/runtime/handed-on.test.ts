/** Which waiters take what the holder of their process hands on: those of whom no attempt is under way or in doubt. */
import { expect, it } from 'vitest';
import type { Tenure } from '../../../src/runtime/tenure.ts';
import { type Answer, HandDrivenAcquisition } from '../support/acquisition.ts';
import { Bench, HandDrivenProtocol, NotingRenewal } from '../support/bench.ts';
import { defer, reset, watchPromise } from '../support/deferred.ts';

class Taker extends HandDrivenAcquisition {
  protected override takeOver(_tenure: Tenure): string {
    return 'handed on';
  }
}

function setUp() {
  const bench = new Bench();
  bench.driver.answersAtOnce = true;
  const { runtime, clock } = bench;
  const { tenure } = bench.hold(new HandDrivenProtocol('line', new NotingRenewal(clock)));
  const log: string[] = [];
  const attempts: (() => Promise<Answer>)[] = [];
  const start = (who: string) => {
    const taker = new Taker(runtime, 'line', {
      what: who,
      attempt: () => attempts.shift()?.() ?? Promise.resolve(-1),
      abandon: () => log.push(`${who} abandons`),
      withdraw: () => log.push(`${who} withdraws`),
    });
    return watchPromise(taker.take({ waitMs: Number.POSITIVE_INFINITY }));
  };
  return {
    clock,
    log,
    attempts,
    start,
    passOn: () => runtime.lines.waitingAt('line')?.passOn(tenure) ?? false,
  };
}

it('a waiter whose attempt found the lock busy', async () => {
  const { clock, log, start, passOn } = setUp();
  const [first, second] = [start('first'), start('second')];
  await clock.advance(100);
  expect(passOn()).toBe(true);
  // The next is at the head in the same turn.
  expect(passOn()).toBe(true);
  expect(passOn()).toBe(false);
  await clock.advance(0);
  expect([first.value, second.value]).toEqual(['handed on', 'handed on']);
  expect(log).toEqual([]);
});

it('not a waiter with a pending attempt, which may be granted', async () => {
  const { clock, attempts, start, passOn } = setUp();
  const answer = defer<Answer>();
  attempts.push(() => answer.promise);
  const first = start('first');
  expect(passOn()).toBe(false);
  answer.resolve('granted');
  await clock.advance(0);
  expect(first.value).toBe('it');
});

it('not a waiter with an unanswered attempt, which may still run', async () => {
  const { clock, attempts, start, passOn } = setUp();
  attempts.push(
    () => Promise.reject(reset()),
    async () => 'granted',
  );
  const first = start('first');
  await clock.advance(1);
  expect(attempts).toHaveLength(1);
  expect(passOn()).toBe(false);
  await clock.advance(1_000);
  expect(first.value).toBe('it, in doubt');
});
