import { describe, expect, it, vi } from 'vitest';
import { withCallTimeout } from '../../../src/drivers/call-timeout.ts';
import type {
  CallSignal,
  ChannelKind,
  Connection,
  ConnectionEvents,
  Driver,
  ScriptArgument,
  ScriptReply,
} from '../../../src/drivers/driver.ts';
import { OutcomeUnknownError } from '../../../src/errors.ts';
import { ManualClock } from '../../harness/manual-clock.ts';
import { evalOn, evalShaOn } from '../../harness/script-calls.ts';

const TIMEOUT_MS = 500;
const EVENTS: ConnectionEvents = { onMessage() {}, onDown() {} };

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
  const opening = pending<Connection>();
  const acknowledged = pending<void>();
  const subscriber = {
    send: vi.fn((_args: readonly ScriptArgument[]) => answer.promise),
    subscribe: vi.fn((_channel: string, _kind: ChannelKind) => acknowledged.promise),
    unsubscribe: vi.fn((_channel: string, _kind: ChannelKind) => acknowledged.promise),
    ping: vi.fn(() => acknowledged.promise),
    destroy: vi.fn(),
  };
  const driver = {
    library: 'fake',
    writesOnce: true,
    topology: 'cluster',
    keyPrefix: 'app:',
    nodeOf: vi.fn((key: string) => `node of ${key}`),
    nodes: vi.fn(() => ['a', 'b']),
    rediscover: vi.fn(async (_key: string) => acknowledged.promise),
    script: vi.fn((..._args: Parameters<Driver['script']>) => answer.promise),
    openConnection: vi.fn((_node: string, _events: ConnectionEvents) => opening.promise),
    async *scan(pattern: string) {
      yield [`${pattern}1`];
      yield [String(await answer.promise)];
    },
    close: vi.fn(async () => {}),
  } satisfies Driver;
  const bounded = withCallTimeout(driver, clock, TIMEOUT_MS);
  return { clock, answer, opening, acknowledged, subscriber, driver, bounded };
}

type SetUp = ReturnType<typeof setUp>;

const CALLS: [string, (given: SetUp) => Promise<unknown>][] = [
  ['script', ({ bounded }) => evalOn(bounded, 'return 1', ['k'], ['a'])],
  ['openConnection', ({ bounded }) => bounded.openConnection('', EVENTS)],
  ['subscribe', async (given) => (await opened(given)).subscribe('c', 'plain')],
  ['unsubscribe', async (given) => (await opened(given)).unsubscribe('c', 'sharded')],
  ['send', async (given) => (await opened(given)).send(['WAIT', '1', '0'])],
  ['ping', async (given) => (await opened(given)).ping()],
];

async function opened(given: SetUp): Promise<Connection> {
  given.opening.resolve(given.subscriber);
  return given.bounded.openConnection('', EVENTS);
}

describe('withCallTimeout', () => {
  it.each(CALLS)('lets %s wait for its time limit and no longer', async (_, call) => {
    const given = setUp();
    const settled = vi.fn();
    const outcome = call(given).catch((error: unknown) => error);
    void outcome.then(settled);
    await given.clock.advance(TIMEOUT_MS - 1);
    expect(settled).not.toHaveBeenCalled();
    await given.clock.advance(1);
    expect(settled).toHaveBeenCalledOnce();
    expect(await outcome).toBeInstanceOf(OutcomeUnknownError);
    expect(await outcome).toMatchObject({ message: 'the server did not answer within 500 ms' });
    expect(given.clock.pendingTimers).toBe(0);
  });

  it('gives each of several calls its own time, also after one that was answered', async () => {
    const { clock, driver, bounded } = setUp();
    const over: string[] = [];
    const call = (name: string) => void evalOn(bounded, name, [], []).catch(() => over.push(name));
    driver.script.mockImplementationOnce(async () => 1);
    call('answered');
    call('first');
    await clock.advance(200);
    call('second');
    await clock.advance(TIMEOUT_MS - 201);
    expect(over).toEqual([]);
    await clock.advance(1);
    expect(over).toEqual(['first']);
    await clock.advance(199);
    expect(over).toEqual(['first']);
    await clock.advance(1);
    expect(over).toEqual(['first', 'second']);
    expect(clock.pendingTimers).toBe(0);
  });

  it('tells the driver when the caller of a script has stopped waiting', async () => {
    const { clock, driver, bounded } = setUp();
    void evalOn(bounded, 'script', ['k'], ['a']).catch(() => undefined);
    const signal = driver.script.mock.calls[0]?.[1] as CallSignal;
    const told = vi.fn();
    signal.addEventListener('abort', told);
    await clock.advance(TIMEOUT_MS - 1);
    expect([signal.aborted, told.mock.calls.length]).toEqual([false, 0]);
    await clock.advance(1);
    expect([signal.aborted, told.mock.calls.length]).toEqual([true, 1]);
  });

  it('does not call a listener that was removed', async () => {
    const { clock, driver, bounded } = setUp();
    void evalOn(bounded, 'script', [], []).catch(() => undefined);
    const signal = driver.script.mock.calls[0]?.[1] as CallSignal;
    const told = vi.fn();
    signal.addEventListener('abort', told);
    signal.removeEventListener('abort', told);
    await clock.advance(TIMEOUT_MS);
    expect(told).not.toHaveBeenCalled();
  });

  it('counts time in which the machine sleeps: a script still queued in the library is not sent', () => {
    const { clock, driver, bounded } = setUp();
    void evalOn(bounded, 'script', [], []).catch(() => undefined);
    clock.suspend(TIMEOUT_MS);
    expect(driver.script.mock.calls[0]?.[1]?.aborted).toBe(true);
  });

  it('passes arguments and answers through, and leaves no timer', async () => {
    const given = setUp();
    const { bounded, driver, subscriber, clock } = given;
    given.answer.resolve(['held', 1]);
    given.acknowledged.resolve();
    expect(await evalOn(bounded, 'return 1', ['k'], ['a'])).toEqual(['held', 1]);
    expect(driver.script).toHaveBeenCalledWith(['eval', 'return 1', '1', 'k', 'a'], expect.anything(), 'k');
    const open = await opened(given);
    expect(driver.openConnection).toHaveBeenCalledWith('', expect.anything());
    await open.subscribe('one', 'plain');
    await open.unsubscribe('two', 'sharded');
    expect(await open.send(['WAIT', '1', '0'])).toEqual(['held', 1]);
    await open.ping();
    open.destroy();
    expect(subscriber.subscribe).toHaveBeenCalledWith('one', 'plain');
    expect(subscriber.unsubscribe).toHaveBeenCalledWith('two', 'sharded');
    expect(subscriber.ping).toHaveBeenCalledOnce();
    expect(subscriber.destroy).toHaveBeenCalledOnce();
    expect(subscriber.send).toHaveBeenCalledWith(['WAIT', '1', '0']);
    await bounded.rediscover('k');
    expect(driver.rediscover).toHaveBeenCalledWith('k');
    expect([bounded.nodeOf('k'), bounded.nodes()]).toEqual(['node of k', ['a', 'b']]);
    await bounded.close();
    expect(driver.close).toHaveBeenCalledOnce();
    expect([bounded.library, bounded.topology, bounded.keyPrefix]).toEqual(['fake', 'cluster', 'app:']);
    expect(clock.pendingTimers).toBe(0);
  });

  it('ends a rediscovery without an error at its time limit', async () => {
    const { bounded, clock } = setUp();
    const looking = bounded.rediscover('k');
    await clock.advance(TIMEOUT_MS);
    await expect(looking).resolves.toBeUndefined();
    expect(clock.pendingTimers).toBe(0);
  });

  it('passes an error through unchanged, and leaves no timer', async () => {
    const { bounded, answer, clock } = setUp();
    const error = new Error('NOSCRIPT');
    const call = evalOn(bounded, '', [], []);
    expect(clock.pendingTimers).toBe(1);
    answer.reject(error);
    await expect(call).rejects.toBe(error);
    expect(clock.pendingTimers).toBe(0);
  });

  it('turns an error thrown by the library into a rejection, and leaves no timer', async () => {
    const { bounded, driver, clock } = setUp();
    const error = new Error('thrown');
    driver.script.mockImplementation(() => {
      throw error;
    });
    await expect(evalOn(bounded, '', [], [])).rejects.toBe(error);
    expect(clock.pendingTimers).toBe(0);
  });

  it('ignores a late answer and a late error', async () => {
    const unhandled: unknown[] = [];
    const note = (error: unknown) => unhandled.push(error);
    process.on('unhandledRejection', note);
    for (const late of ['resolve', 'reject'] as const) {
      const { bounded, answer, opening, clock } = setUp();
      const calls = [evalOn(bounded, '', [], []), bounded.openConnection('', EVENTS)];
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

  it('destroys a subscriber that opens after its caller has stopped waiting', async () => {
    const { bounded, opening, subscriber, clock } = setUp();
    const outcome = bounded.openConnection('', EVENTS).catch((error: unknown) => error);
    await clock.advance(TIMEOUT_MS);
    expect(await outcome).toBeInstanceOf(OutcomeUnknownError);
    expect(subscriber.destroy).not.toHaveBeenCalled();
    opening.resolve(subscriber);
    await clock.advance(0);
    expect(subscriber.destroy).toHaveBeenCalledOnce();
  });

  it('bounds every step of a scan', async () => {
    const { bounded, clock } = setUp();
    const pages = bounded.scan('k')[Symbol.asyncIterator]();
    expect(await pages.next()).toEqual({ done: false, value: ['k1'] });
    const outcome = pages.next().catch((error: unknown) => error);
    await clock.advance(TIMEOUT_MS);
    expect(await outcome).toBeInstanceOf(OutcomeUnknownError);
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('the watch over calls', () => {
  function watched() {
    const given = setUp();
    const watch = { dueAt: 0, refusal: vi.fn((): Error | undefined => undefined), onRecovered: vi.fn() };
    return { ...given, watch, bounded: withCallTimeout(given.driver, given.clock, TIMEOUT_MS, watch) };
  }

  it('is notified of the first answer after a missing one', async () => {
    const { bounded, clock, driver, watch } = watched();
    const silent = evalOn(bounded, '', [], []).catch((error: unknown) => error);
    await clock.advance(TIMEOUT_MS);
    expect(await silent).toBeInstanceOf(OutcomeUnknownError);
    expect(watch.onRecovered).not.toHaveBeenCalled();
    driver.script.mockResolvedValue('here');
    await evalOn(bounded, '', [], []);
    await evalOn(bounded, '', [], []);
    expect(watch.onRecovered).toHaveBeenCalledOnce();
  });

  it.each([
    ['a connection that could not be made', Object.assign(new Error('no'), { syscall: 'connect' }), 1],
    ['a connection that broke', new Error('Connection is closed.'), 1],
    ['a primary that has become a replica', new Error('READONLY You can not write'), 1],
    ['a server that refuses', new Error('NOPERM this user has no permissions'), 0],
    ['a script that is not known yet', new Error('NOSCRIPT No matching script'), 0],
  ])('classifies %s correctly', async (_title, error, recoveries) => {
    const { bounded, driver, watch } = watched();
    driver.script.mockRejectedValueOnce(error).mockResolvedValue('here');
    await expect(evalShaOn(bounded, '', [], [])).rejects.toBe(error);
    await evalShaOn(bounded, '', [], []);
    expect(watch.onRecovered).toHaveBeenCalledTimes(recoveries);
  });

  it('is notified of a broken dedicated connection, and so is its opener', async () => {
    const { bounded, driver, opening, subscriber, answer, watch } = watched();
    const events = { onMessage: vi.fn(), onDown: vi.fn() };
    opening.resolve(subscriber);
    await bounded.openConnection('', events);
    const given = driver.openConnection.mock.calls[0]?.[1] as ConnectionEvents;
    given.onMessage('channel', 'message');
    const reason = new Error('gone');
    given.onDown(reason);
    expect(events.onMessage).toHaveBeenCalledWith('channel', 'message');
    expect(events.onDown).toHaveBeenCalledWith(reason);
    answer.resolve('here');
    await evalOn(bounded, '', [], []);
    expect(watch.onRecovered).toHaveBeenCalledOnce();
  });

  it('sends no scripts to an unfit server', async () => {
    const { bounded, driver, answer, watch, clock } = watched();
    const refusal = new Error('not this one');
    watch.refusal.mockReturnValueOnce(refusal).mockReturnValueOnce(refusal);
    await expect(evalOn(bounded, '', [], [])).rejects.toBe(refusal);
    await expect(evalShaOn(bounded, '', [], [])).rejects.toBe(refusal);
    expect(driver.script).not.toHaveBeenCalled();
    expect(clock.pendingTimers).toBe(0);
    answer.resolve('here');
    expect(await evalOn(bounded, '', [], [])).toBe('here');
  });
});
