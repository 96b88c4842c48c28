import { describe, expect, it, vi } from 'vitest';
import { withDeadline } from '../../src/drivers/deadline.ts';
import type { Driver, ScriptReply, Subscriber, SubscriberEvents } from '../../src/drivers/driver.ts';
import { OutcomeUnknownError } from '../../src/errors.ts';
import { ManualClock } from '../harness/manual-clock.ts';

const TIMEOUT_MS = 500;
const EVENTS: SubscriberEvents = { onMessage() {}, onDown() {} };

interface Pending<Value> {
  readonly promise: Promise<Value>;
  resolve(value: Value): void;
  reject(error: Error): void;
}

function pending<Value>(): Pending<Value> {
  let resolve!: (value: Value) => void;
  let reject!: (error: Error) => void;
  const promise = new Promise<Value>((...settle) => {
    [resolve, reject] = settle;
  });
  return { promise, resolve, reject };
}

function setUp() {
  const clock = new ManualClock();
  const answer = pending<ScriptReply>();
  const opening = pending<Subscriber>();
  const acknowledged = pending<void>();
  const subscriber = {
    subscribe: vi.fn((_channel: string) => acknowledged.promise),
    unsubscribe: vi.fn((_channel: string) => acknowledged.promise),
    ping: vi.fn(() => acknowledged.promise),
    destroy: vi.fn(),
  };
  const driver = {
    library: 'fake',
    keyPrefix: 'app:',
    eval: vi.fn((..._args: Parameters<Driver['eval']>) => answer.promise),
    evalSha: vi.fn((..._args: Parameters<Driver['evalSha']>) => answer.promise),
    openSubscriber: vi.fn((_events: SubscriberEvents) => opening.promise),
    async *scan(pattern: string) {
      yield `${pattern}1`;
      yield String(await answer.promise);
    },
    close: vi.fn(async () => {}),
  } satisfies Driver;
  const bounded = withDeadline(driver, clock, TIMEOUT_MS);
  return { clock, answer, opening, acknowledged, subscriber, driver, bounded };
}

type SetUp = ReturnType<typeof setUp>;

const CALLS: [string, (given: SetUp) => Promise<unknown>][] = [
  ['eval', ({ bounded }) => bounded.eval('return 1', ['k'], ['a'])],
  ['evalSha', ({ bounded }) => bounded.evalSha('abc', ['k'], ['a'])],
  ['openSubscriber', ({ bounded }) => bounded.openSubscriber(EVENTS)],
  ['subscribe', async (given) => (await opened(given)).subscribe('c')],
  ['unsubscribe', async (given) => (await opened(given)).unsubscribe('c')],
  ['ping', async (given) => (await opened(given)).ping()],
];

async function opened(given: SetUp): Promise<Subscriber> {
  given.opening.resolve(given.subscriber);
  return given.bounded.openSubscriber(EVENTS);
}

describe('withDeadline', () => {
  it.each(CALLS)('lets %s wait for its time and no longer', async (_, call) => {
    const given = setUp();
    const settled = vi.fn();
    const outcome = call(given).catch((error: unknown) => error);
    void outcome.then(settled);
    await given.clock.advance(TIMEOUT_MS - 1);
    expect(settled).not.toHaveBeenCalled();
    await given.clock.advance(1);
    expect(settled).toHaveBeenCalledOnce();
    expect(await outcome).toBeInstanceOf(OutcomeUnknownError);
    expect(await outcome).toMatchObject({ message: 'No answer from the server within 500 ms' });
    expect(given.clock.pendingTimers).toBe(0);
  });

  it('passes arguments and answers on, and leaves no timer', async () => {
    const given = setUp();
    const { bounded, driver, subscriber, clock } = given;
    given.answer.resolve(['held', 1]);
    given.acknowledged.resolve();
    expect(await bounded.eval('return 1', ['k'], ['a'])).toEqual(['held', 1]);
    expect(driver.eval).toHaveBeenCalledWith('return 1', ['k'], ['a']);
    expect(await bounded.evalSha('abc', ['k'], ['a'])).toEqual(['held', 1]);
    expect(driver.evalSha).toHaveBeenCalledWith('abc', ['k'], ['a']);
    const open = await opened(given);
    expect(driver.openSubscriber).toHaveBeenCalledWith(EVENTS);
    await open.subscribe('one');
    await open.unsubscribe('two');
    await open.ping();
    open.destroy();
    expect(subscriber.subscribe).toHaveBeenCalledWith('one');
    expect(subscriber.unsubscribe).toHaveBeenCalledWith('two');
    expect(subscriber.ping).toHaveBeenCalledOnce();
    expect(subscriber.destroy).toHaveBeenCalledOnce();
    await bounded.close();
    expect(driver.close).toHaveBeenCalledOnce();
    expect([bounded.library, bounded.keyPrefix]).toEqual(['fake', 'app:']);
    expect(clock.pendingTimers).toBe(0);
  });

  it('passes an error on as it is, and leaves no timer', async () => {
    const { bounded, answer, clock } = setUp();
    const error = new Error('NOSCRIPT');
    const call = bounded.eval('', [], []);
    expect(clock.pendingTimers).toBe(1);
    answer.reject(error);
    await expect(call).rejects.toBe(error);
    expect(clock.pendingTimers).toBe(0);
  });

  it('turns an error thrown by the library into a rejection, and leaves no timer', async () => {
    const { bounded, driver, clock } = setUp();
    const error = new Error('thrown');
    driver.eval.mockImplementation(() => {
      throw error;
    });
    await expect(bounded.eval('', [], [])).rejects.toBe(error);
    expect(clock.pendingTimers).toBe(0);
  });

  it('ignores an answer and an error that come too late', async () => {
    const unhandled: unknown[] = [];
    const note = (error: unknown) => unhandled.push(error);
    process.on('unhandledRejection', note);
    for (const late of ['resolve', 'reject'] as const) {
      const { bounded, answer, opening, clock } = setUp();
      const calls = [bounded.eval('', [], []), bounded.openSubscriber(EVENTS)];
      const outcomes = Promise.allSettled(calls);
      await clock.advance(TIMEOUT_MS);
      if (late === 'resolve') answer.resolve(1);
      else answer.reject(new Error('late'));
      opening.reject(new Error('late'));
      for (const outcome of await outcomes) {
        expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'ERR_OUTCOME_UNKNOWN' } });
      }
      await clock.advance(0);
    }
    process.off('unhandledRejection', note);
    expect(unhandled).toEqual([]);
  });

  it('destroys a subscriber that opens after its caller has left', async () => {
    const { bounded, opening, subscriber, clock } = setUp();
    const outcome = bounded.openSubscriber(EVENTS).catch((error: unknown) => error);
    await clock.advance(TIMEOUT_MS);
    expect(await outcome).toBeInstanceOf(OutcomeUnknownError);
    expect(subscriber.destroy).not.toHaveBeenCalled();
    opening.resolve(subscriber);
    await clock.advance(0);
    expect(subscriber.destroy).toHaveBeenCalledOnce();
  });

  it('bounds every step of a scan', async () => {
    const { bounded, clock } = setUp();
    const keys = bounded.scan('k')[Symbol.asyncIterator]();
    expect(await keys.next()).toEqual({ done: false, value: 'k1' });
    const outcome = keys.next().catch((error: unknown) => error);
    await clock.advance(TIMEOUT_MS);
    expect(await outcome).toBeInstanceOf(OutcomeUnknownError);
    expect(clock.pendingTimers).toBe(0);
  });
});
