/** The engine: try, wait, try again; every way a wait can end, and what it leaves behind. */
import { describe, expect, it } from 'vitest';
import { DriverError, OutcomeUnknownError } from '../../../src/errors.ts';
import type { Waiting } from '../../../src/runtime/protocol.ts';
import { type Answer, type HandDriven, HandDrivenAcquisition } from '../support/acquisition.ts';
import { Bench } from '../support/bench.ts';
import { defer, refusal, reset, unreachable, watchPromise } from '../support/deferred.ts';

const GRANTED: Answer = 'granted';
const busy = (remainingMs = -1): Answer => remainingMs;

/** A thing to be had, and what happened to it, in order. */
class Arena {
  readonly bench = new Bench();
  readonly clock = this.bench.clock;
  readonly log: string[] = [];
  /** When attempts were made. */
  readonly attemptedAt: number[] = [];
  isFree = false;
  remainingMs = -1;
  /** What an attempt is answered; by default whether it is free. */
  answer: () => Promise<Answer> = async () => {
    if (!this.isFree) return busy(this.remainingMs);
    this.isFree = false;
    return GRANTED;
  };

  constructor({ answersAtOnce = true } = {}) {
    this.bench.driver.answersAtOnce = answersAtOnce;
  }

  hands(who: string, waiting: Pick<HandDriven, 'waiting' | 'isShared'>): HandDriven {
    return {
      what: `acquire as ${who}`,
      ...waiting,
      attempt: () => {
        this.log.push(`${who} attempts`);
        this.attemptedAt.push(this.clock.now());
        return this.answer();
      },
      abandon: () => this.log.push(`${who} abandons`),
      withdraw: () => this.log.push(`${who} withdraws`),
    };
  }

  /** Starts an acquisition and watches how it ends. */
  start(
    who: string,
    {
      waitMs = Number.POSITIVE_INFINITY,
      signal,
      ...waiting
    }: { waitMs?: number; signal?: AbortSignal; waiting?: Waiting; isShared?: boolean } = {},
  ) {
    const acquisition = new HandDrivenAcquisition(this.bench.runtime, 'line', this.hands(who, waiting));
    return watchPromise(acquisition.take({ waitMs, signal }));
  }

  /** It is free, and the holder announces that. */
  release(): void {
    this.isFree = true;
    this.bench.driver.connection.events.onMessage('ch', '0');
  }

  get isLineEmpty(): boolean {
    return this.bench.runtime.lines.waitingAt('line') === undefined;
  }
}

/** Two that wait: the head of the line, which can give up, and the next. */
async function headAndNext() {
  const arena = new Arena();
  const controller = new AbortController();
  const a = arena.start('a', { signal: controller.signal });
  const b = arena.start('b');
  await arena.clock.advance(100);
  arena.log.length = 0;
  return { arena, controller, a, b };
}

describe('a free lock', () => {
  it('is granted at the first attempt, without a subscription or a timer', async () => {
    const arena = new Arena();
    arena.isFree = true;
    const a = arena.start('a');
    await arena.clock.advance(0);
    expect(a.value).toBe('it');
    expect(arena.log).toEqual(['a attempts']);
    expect(arena.bench.driver.openings).toBe(0);
    expect(arena.clock.pendingTimers).toBe(0);
    expect(arena.isLineEmpty).toBe(true);
  });

  it('is granted to a single attempt too', async () => {
    const arena = new Arena();
    arena.isFree = true;
    const a = arena.start('a', { waitMs: 0 });
    await arena.clock.advance(0);
    expect(a.value).toBe('it');
  });
});

describe('a single attempt', () => {
  it('asks once, answers at once, and subscribes to nothing', async () => {
    const arena = new Arena();
    arena.remainingMs = 700;
    const a = arena.start('a', { waitMs: 0 });
    await arena.clock.advance(0);
    expect(a.value).toBeNull();
    expect(arena.log).toEqual(['a attempts', 'a withdraws']);
    expect(arena.bench.driver.openings).toBe(0);
  });

  it('does not ask at all while others of this process wait', async () => {
    const arena = new Arena();
    arena.start('a');
    await arena.clock.advance(100);
    arena.log.length = 0;
    const timers = arena.clock.pendingTimers;
    const b = arena.start('b', { waitMs: 0 });
    expect(arena.clock.pendingTimers).toBe(timers);
    await arena.clock.advance(0);
    expect(b.value).toBeNull();
    expect(arena.log).toEqual([]);
  });
});

describe('a taken lock', () => {
  it('is attempted again as soon as the subscription is acknowledged, and not before', async () => {
    const arena = new Arena({ answersAtOnce: false });
    arena.start('a');
    await arena.clock.advance(500);
    expect(arena.log).toEqual(['a attempts']);
    arena.bench.driver.connection.request('subscribe ch').resolve();
    await arena.clock.advance(0);
    expect(arena.log).toEqual(['a attempts', 'a attempts']);
    await arena.clock.advance(500);
    expect(arena.log).toEqual(['a attempts', 'a attempts']);
  });

  it('released between the first attempt and the acknowledgement is not missed', async () => {
    const arena = new Arena({ answersAtOnce: false });
    const a = arena.start('a');
    await arena.clock.advance(10);
    // The message of this release reaches nobody.
    arena.isFree = true;
    arena.bench.driver.connection.request('subscribe ch').resolve();
    await arena.clock.advance(0);
    expect(a.value).toBe('it');
  });

  it('released before the acknowledgement is not missed when the head gives up meanwhile', async () => {
    const arena = new Arena({ answersAtOnce: false });
    const a = arena.start('a', { waitMs: 100 });
    const b = arena.start('b');
    await arena.clock.advance(50);
    arena.isFree = true;
    await arena.clock.advance(50);
    expect(a.value).toBeNull();
    arena.bench.driver.connection.request('subscribe ch').resolve();
    await arena.clock.advance(0);
    expect(b.value).toBe('it');
  });

  it('is granted when a message reports the release', async () => {
    const arena = new Arena();
    const a = arena.start('a');
    await arena.clock.advance(1_000);
    arena.release();
    await arena.clock.advance(0);
    expect(a.value).toBe('it');
    expect(arena.clock.now()).toBe(2_000);
  });

  it('is attempted again one millisecond after the holder’s lease ends', async () => {
    const arena = new Arena();
    arena.remainingMs = 700;
    const startedAt = arena.clock.now();
    arena.start('a');
    await arena.clock.advance(0);
    arena.attemptedAt.length = 0;
    await arena.clock.advance(701);
    expect(arena.attemptedAt).toEqual([startedAt + 701]);
  });

  it('is attempted again about every poll interval without messages', async () => {
    const arena = new Arena();
    const a = arena.start('a');
    await arena.clock.advance(0);
    for (let i = 0; i < 20; i += 1) {
      const from = arena.attemptedAt.at(-1) as number;
      const before = arena.attemptedAt.length;
      while (arena.attemptedAt.length === before) await arena.clock.advance(10);
      const pauseMs = (arena.attemptedAt.at(-1) as number) - from;
      expect(pauseMs).toBeGreaterThanOrEqual(4_000);
      expect(pauseMs).toBeLessThanOrEqual(6_000);
    }
    arena.isFree = true;
    await arena.clock.advance(6_000);
    expect(a.value).toBe('it');
  });

  it('is polled if subscriptions are not possible', async () => {
    const arena = new Arena();
    arena.bench.driver.failures.push(...Array.from({ length: 100 }, unreachable));
    const a = arena.start('a');
    await arena.clock.advance(1_000);
    arena.isFree = true;
    await arena.clock.advance(6_000);
    expect(a.value).toBe('it');
  });

  it('released during an attempt is attempted again at once', async () => {
    const arena = new Arena();
    const a = arena.start('a');
    await arena.clock.advance(100);
    const slow = defer<Answer>();
    const byState = arena.answer;
    arena.answer = () => slow.promise;
    arena.bench.runtime.lines.wake('line');
    await arena.clock.advance(0);
    // The server said busy, then it was released, and the message overtakes the answer.
    arena.answer = byState;
    arena.release();
    slow.resolve(busy(20_000));
    await arena.clock.advance(0);
    expect(a.value).toBe('it');
  });

  it('is not attempted after the end of the wait', async () => {
    const arena = new Arena();
    const a = arena.start('a', { waitMs: 300 });
    await arena.clock.advance(299);
    expect(a.state).toBe('pending');
    await arena.clock.advance(1);
    expect(a.value).toBeNull();
    expect(arena.log.at(-1)).toBe('a withdraws');
    expect(arena.isLineEmpty).toBe(true);
    await arena.clock.advance(1_000);
    expect(arena.bench.driver.connection.log).toEqual(['subscribe ch', 'unsubscribe ch']);
  });
});

describe('several waiters of one process', () => {
  it('send as few requests as one waiter, and are served in order', async () => {
    const arena = new Arena();
    const all = Array.from({ length: 50 }, (_, i) => arena.start(`${i}`));
    await arena.clock.advance(3_000);
    expect(arena.log).toEqual(['0 attempts', '0 attempts']);
    for (const each of all) {
      expect(each.state).toBe('pending');
      arena.release();
      await arena.clock.advance(0);
      expect(each.value).toBe('it');
    }
    expect(arena.bench.driver.connection.log.filter((what) => what === 'subscribe ch')).toHaveLength(1);
  });

  it('are not all woken by the release that served one', async () => {
    const { arena, a, b } = await headAndNext();
    arena.release();
    arena.bench.driver.connection.events.onMessage('ch', '0');
    await arena.clock.advance(1_000);
    expect(a.state).toBe('resolved');
    expect(b.state).toBe('pending');
    expect(arena.log).toEqual(['a attempts']);
  });

  it('pass a wake-up on when the head gives up at that moment', async () => {
    const { arena, controller, a, b } = await headAndNext();
    controller.abort('stop');
    arena.release();
    await arena.clock.advance(0);
    expect(a).toEqual({ state: 'rejected', error: 'stop' });
    expect(b.value).toBe('it');
  });

  it('get the lock of a head that gives up at the moment it is woken', async () => {
    const { arena, controller, a, b } = await headAndNext();
    arena.release();
    controller.abort('stop');
    await arena.clock.advance(0);
    expect(a).toEqual({ state: 'rejected', error: 'stop' });
    expect(arena.log).toEqual(['a attempts', 'a abandons', 'b attempts']);
    // What it may have taken is given back in the background, and that is announced.
    arena.release();
    await arena.clock.advance(0);
    expect(b.value).toBe('it');
  });

  it('do not miss the wake-up of a head that gives up without the lock', async () => {
    const { arena, controller, a, b } = await headAndNext();
    const take = arena.answer;
    // Sent on another connection than what undoes it, the attempt comes second, takes nothing, and nobody is told.
    arena.answer = () => new Promise(() => {});
    arena.release();
    arena.answer = take;
    controller.abort('stop');
    await arena.clock.advance(0);
    expect(a.error).toBe('stop');
    expect(arena.log).toEqual(['a attempts', 'a abandons', 'b attempts']);
    expect(b.value).toBe('it');
  });

  it('leave the line when they give up, at any position', async () => {
    const arena = new Arena();
    const controller = new AbortController();
    arena.start('a');
    const b = arena.start('b', { signal: controller.signal });
    const c = arena.start('c', { waitMs: 200 });
    const d = arena.start('d');
    await arena.clock.advance(100);
    controller.abort('stop');
    await arena.clock.advance(100);
    expect(b.state).toBe('rejected');
    expect(c.value).toBeNull();
    arena.release();
    await arena.clock.advance(0);
    arena.release();
    await arena.clock.advance(0);
    expect(d.value).toBe('it');
    expect(arena.log).not.toContain('b attempts');
    expect(arena.log).not.toContain('b withdraws');
    expect(arena.log).not.toContain('c attempts');
    expect(arena.isLineEmpty).toBe(true);
  });

  it('continue one after another at once if the primitive admits several holders', async () => {
    const arena = new Arena();
    const all = ['a', 'b', 'c'].map((who) => arena.start(who, { isShared: true }));
    await arena.clock.advance(100);
    arena.answer = async () => GRANTED;
    arena.release();
    await arena.clock.advance(0);
    for (const each of all) expect(each.value).toBe('it');
  });
});

describe('giving up with an attempt in doubt', () => {
  it('aborted during an attempt: the attempt is undone', async () => {
    const arena = new Arena();
    const controller = new AbortController();
    const late = defer<Answer>();
    arena.answer = () => late.promise;
    const a = arena.start('a', { signal: controller.signal });
    await arena.clock.advance(10);
    controller.abort('stop');
    await arena.clock.advance(0);
    expect(a).toEqual({ state: 'rejected', error: 'stop' });
    expect(arena.log).toEqual(['a attempts', 'a abandons']);
    late.reject(new Error('nobody should see this'));
    await arena.clock.advance(0);
  });

  it('aborted while no attempt is in doubt: there is nothing to undo', async () => {
    const arena = new Arena();
    const controller = new AbortController();
    const a = arena.start('a', { signal: controller.signal });
    await arena.clock.advance(10);
    controller.abort('stop');
    await arena.clock.advance(0);
    expect(a.error).toBe('stop');
    expect(arena.log).not.toContain('a abandons');
    expect(arena.log.at(-1)).toBe('a withdraws');
  });

  it('aborted after a lost reply: the attempt is undone', async () => {
    const arena = new Arena();
    const controller = new AbortController();
    arena.answer = () => Promise.reject(reset());
    const a = arena.start('a', { signal: controller.signal });
    await arena.clock.advance(5);
    controller.abort('stop');
    await arena.clock.advance(0);
    expect(a.error).toBe('stop');
    expect(arena.log.at(-1)).toBe('a abandons');
  });

  it('granted after a lost reply: the grant counts, and nothing is undone', async () => {
    const arena = new Arena();
    const answers = [() => Promise.reject(reset()), async () => GRANTED];
    arena.answer = () => (answers.shift() as () => Promise<Answer>)();
    const a = arena.start('a');
    await arena.clock.advance(50);
    expect(a.value).toBe('it, in doubt');
    expect(arena.log).toEqual(['a attempts', 'a attempts']);
  });

  it('granted after an attempt that was certainly not sent: nothing is in doubt', async () => {
    const arena = new Arena();
    const answers = [() => Promise.reject(unreachable()), async () => GRANTED];
    arena.answer = () => (answers.shift() as () => Promise<Answer>)();
    const a = arena.start('a');
    await arena.clock.advance(50);
    expect(a.value).toBe('it');
  });

  it('busy after a lost reply: the lost attempt may still be in flight, so it is undone in the end', async () => {
    const arena = new Arena();
    const answers: (() => Promise<Answer>)[] = [() => Promise.reject(reset())];
    arena.answer = () => answers.shift()?.() ?? Promise.resolve(busy());
    const a = arena.start('a', { waitMs: 1_000 });
    await arena.clock.advance(1_000);
    expect(a.value).toBeNull();
    expect(arena.log.filter((entry) => entry === 'a abandons')).toHaveLength(1);
    expect(arena.log.at(-1)).toBe('a abandons');
  });

  it('certainly not sent: there is nothing to undo', async () => {
    const arena = new Arena();
    arena.answer = () => Promise.reject(unreachable());
    const a = arena.start('a', { waitMs: 1_000 });
    await arena.clock.advance(4_000);
    expect(a.error).toBeInstanceOf(DriverError);
    expect(arena.log).not.toContain('a abandons');
  });

  it('refused: the call rejects at once, and there is nothing to undo', async () => {
    const arena = new Arena();
    const error = refusal('WRONGTYPE Operation against a key holding the wrong kind of value');
    arena.answer = () => Promise.reject(error);
    const a = arena.start('a');
    await arena.clock.advance(0);
    expect(a.error).toBeInstanceOf(DriverError);
    expect((a.error as Error).cause).toBe(error);
    expect(arena.log).toEqual(['a attempts', 'a withdraws']);
    expect(arena.isLineEmpty).toBe(true);
  });

  it('refused after a lost reply: the outcome is unknown, and the lost attempt is undone', async () => {
    const arena = new Arena();
    const errors = [reset(), refusal()];
    arena.answer = () => Promise.reject(errors.shift());
    const a = arena.start('a');
    await arena.clock.advance(50);
    expect(a.error).toBeInstanceOf(OutcomeUnknownError);
    expect(arena.log.at(-1)).toBe('a abandons');
  });

  it('closed during an attempt: the attempt is undone', async () => {
    const arena = new Arena();
    arena.answer = () => new Promise(() => {});
    const a = arena.start('a');
    await arena.clock.advance(10);
    void arena.bench.runtime.close();
    await arena.clock.advance(0);
    expect(a.error).toMatchObject({ code: 'ERR_CLOSED' });
    expect(arena.log.at(-1)).toBe('a abandons');
  });
});

describe('a slot that moves to another node', () => {
  const isMoving = () => Promise.reject(refusal('TRYAGAIN Multiple keys request during rehashing of slot'));

  it('makes a caller without a limit wait for as long as it moves', async () => {
    const arena = new Arena();
    arena.answer = isMoving;
    const a = arena.start('a');
    await arena.clock.advance(60_000);
    expect(a.state).toBe('pending');
    arena.answer = async () => GRANTED;
    await arena.clock.advance(1_000);
    expect(a.value).toBe('it');
    expect(arena.log).not.toContain('a abandons');
  });

  it('is an error for a caller with a limit, one command time-out after the limit', async () => {
    const arena = new Arena();
    arena.answer = isMoving;
    const a = arena.start('a', { waitMs: 1_000 });
    await arena.clock.advance(1_000);
    expect(a.state).toBe('pending');
    await arena.clock.advance(3_000);
    expect(a.error).toBeInstanceOf(DriverError);
  });
});

describe('a server that cannot be reached', () => {
  const hangs = () => new Promise<Answer>(() => {});
  const breaks = () => Promise.reject(reset());
  const isGone = () => Promise.reject(unreachable());

  it.each([
    ['does not answer', hangs, OutcomeUnknownError],
    ['breaks the connection', breaks, OutcomeUnknownError],
    ['is not there', isGone, DriverError],
  ] as const)(
    '%s: a limited wait settles by its limit and one command time-out',
    async (_what, answer, type) => {
      for (const waitMs of [0, 10, 1_000, 10_000]) {
        const arena = new Arena();
        arena.answer = answer;
        const a = arena.start('a', { waitMs });
        await arena.clock.advance(waitMs);
        expect(a.state).toBe('pending');
        await arena.clock.advance(3_000);
        expect(a.error).toBeInstanceOf(type);
        expect(arena.isLineEmpty).toBe(true);
      }
    },
  );

  it.each([
    ['does not answer', hangs, OutcomeUnknownError],
    ['breaks the connection', breaks, OutcomeUnknownError],
    ['is not there', isGone, DriverError],
  ] as const)(
    '%s: a wait without a limit that was never answered settles by one command time-out',
    async (_what, answer, type) => {
      const arena = new Arena();
      arena.answer = answer;
      const a = arena.start('a');
      await arena.clock.advance(2_999);
      expect(a.state).toBe('pending');
      await arena.clock.advance(1);
      expect(a.error).toBeInstanceOf(type);
    },
  );

  it('returns within the time: the lock is granted', async () => {
    const arena = new Arena();
    arena.answer = isGone;
    const a = arena.start('a');
    await arena.clock.advance(2_000);
    arena.answer = async () => GRANTED;
    await arena.clock.advance(1_000);
    expect(a.value).toBe('it');
  });

  it('after the lock was busy: the waiter waits until the server is back', async () => {
    const arena = new Arena();
    const a = arena.start('a');
    await arena.clock.advance(1_000);
    arena.answer = breaks;
    await arena.clock.advance(600_000);
    expect(a.state).toBe('pending');
    arena.answer = async () => GRANTED;
    await arena.clock.advance(1_000);
    expect(a.value).toBe('it, in doubt');
  });

  it('while the waiter queues behind others: the waiter waits until the server is back', async () => {
    const arena = new Arena();
    const controller = new AbortController();
    arena.start('a', { signal: controller.signal });
    const b = arena.start('b');
    await arena.clock.advance(1_000);
    arena.answer = isGone;
    controller.abort('stop');
    await arena.clock.advance(60_000);
    expect(b.state).toBe('pending');
    arena.answer = async () => GRANTED;
    await arena.clock.advance(1_000);
    expect(b.value).toBe('it');
  });

  it('is not hammered', async () => {
    const arena = new Arena();
    arena.answer = isGone;
    arena.start('a', { waitMs: 57_000 });
    await arena.clock.advance(60_000);
    // A pause is at most a second, and at least half of that once it has grown.
    expect(arena.attemptedAt.length).toBeLessThan(140);
    expect(arena.attemptedAt.length).toBeGreaterThan(59);
  });
});

describe('spinning', () => {
  it('attempts after the given pauses, and subscribes to nothing', async () => {
    const arena = new Arena();
    const pauses = [5, 10, 20, 40];
    const waiting: Waiting = { kind: 'spin', nextDelayMs: () => pauses.shift() ?? 100 };
    const startedAt = arena.clock.now();
    const a = arena.start('a', { waiting });
    await arena.clock.advance(74);
    expect(arena.attemptedAt.map((at) => at - startedAt)).toEqual([0, 5, 15, 35]);
    arena.isFree = true;
    await arena.clock.advance(1);
    expect(a.value).toBe('it');
    expect(arena.bench.driver.openings).toBe(0);
  });

  it('ends with its wait', async () => {
    const arena = new Arena();
    const a = arena.start('a', { waitMs: 50, waiting: { kind: 'spin', nextDelayMs: () => 20 } });
    await arena.clock.advance(50);
    expect(a.value).toBeNull();
    expect(arena.attemptedAt).toHaveLength(3);
  });
});
