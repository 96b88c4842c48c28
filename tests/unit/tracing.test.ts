/** The steps of a traced operation, their times, and the stores that are bound to it. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type AcquireMessage, acquireChannel, type HoldMessage, holdChannel } from '../../src/channels.ts';
import { type HoldTrace, traceAcquire } from '../../src/tracing.ts';
import { ManualClock } from '../harness/manual-clock.ts';

const STEPS = ['start', 'end', 'error', 'asyncStart', 'asyncEnd'] as const;

/** Listens to one channel, and notes each step with a copy of what the message said by then. */
function listen<Message extends object>(channel: typeof acquireChannel | typeof holdChannel) {
  const heard: { step: string; message: Message; said: Message }[] = [];
  for (const step of STEPS) {
    const note = (message: unknown) =>
      heard.push({ step, message: message as Message, said: { ...(message as Message) } });
    channel[step].subscribe(note);
    onTestFinished(() => {
      channel[step].unsubscribe(note);
    });
  }
  return heard;
}

function setUp() {
  const clock = new ManualClock();
  const teller = { clientId: 'c', label: 'bench', clock };
  return { clock, teller, about: { kind: 'lock', name: 'a' } as const };
}

/** A hold, as a call returns it. */
class Held {
  readonly owner = 'c:1';
  readonly remainingMs = 1_000;
  trace: HoldTrace | undefined;

  followedBy(trace: HoldTrace): void {
    this.trace = trace;
  }
}

describe('a traced acquisition', () => {
  it('has its result at the last steps only', async () => {
    const { clock, teller, about } = setUp();
    const heard = listen<AcquireMessage>(acquireChannel);
    const taking = traceAcquire(teller, about, {}, async ({ trace }) => {
      trace.attempted();
      await clock.advance(250);
      trace.attempted();
      trace.contended();
      return new Held();
    });
    expect(heard.map(({ step }) => step)).toEqual(['start', 'end']);
    const hold = await taking;
    expect(hold.owner).toBe('c:1');
    expect(heard.map(({ step }) => step)).toEqual(['start', 'end', 'asyncStart', 'asyncEnd']);
    const subject = {
      clientId: 'c',
      label: 'bench',
      kind: 'lock',
      name: 'a',
      permits: undefined,
      isMember: false,
    };
    expect(heard[0]?.said).toEqual(subject);
    expect(heard[1]?.said).toEqual(subject);
    const told = {
      outcome: 'granted',
      waitedMs: 250,
      attempts: 2,
      contended: true,
      owner: 'c:1',
      token: undefined,
    };
    expect(heard[2]?.said).toEqual({ ...subject, ...told });
    expect(new Set(heard.map(({ message }) => message)).size).toBe(1);
  });

  it.each([
    ['null', null, 'timeout'],
    ['false', false, 'timeout'],
    ['true', true, 'granted'],
  ])('that answers %s is told as %s', async (_title, answer, outcome) => {
    const { teller, about } = setUp();
    const heard = listen<AcquireMessage>(acquireChannel);
    expect(await traceAcquire(teller, about, {}, async () => answer)).toBe(answer);
    expect(heard.at(-1)?.said).toMatchObject({ outcome, attempts: 0 });
  });

  it('that throws at once rejects, with all steps', async () => {
    const { teller, about } = setUp();
    const heard = listen<AcquireMessage>(acquireChannel);
    const broken = new Error('broken');
    const taking = traceAcquire(teller, about, {}, () => {
      throw broken;
    });
    await expect(taking).rejects.toBe(broken);
    expect(heard.map(({ step }) => step)).toEqual(['start', 'end', 'error', 'asyncStart', 'asyncEnd']);
    expect(heard[2]?.said).toMatchObject({ outcome: 'failed', error: broken });
  });

  it('is aborted only by its own signal', async () => {
    const { teller, about } = setUp();
    const heard = listen<AcquireMessage>(acquireChannel);
    const reason = new Error('enough');
    const fail = () => Promise.reject(reason);
    await expect(traceAcquire(teller, about, { signal: AbortSignal.abort(reason) }, fail)).rejects.toBe(
      reason,
    );
    await expect(traceAcquire(teller, about, { signal: AbortSignal.abort() }, fail)).rejects.toBe(reason);
    const outcomes = heard.filter(({ step }) => step === 'asyncEnd').map(({ said }) => said.outcome);
    expect(outcomes).toEqual(['aborted', 'failed']);
  });

  it('runs in the stores that are bound to its start', async () => {
    const { teller, about } = setUp();
    const store = new AsyncLocalStorage<string>();
    acquireChannel.start.bindStore(store as AsyncLocalStorage<unknown>, ({ name }) => `span of ${name}`);
    onTestFinished(() => {
      acquireChannel.start.unbindStore(store as AsyncLocalStorage<unknown>);
    });
    const seen = await traceAcquire(teller, about, {}, async () => {
      await Promise.resolve();
      return store.getStore();
    });
    expect(seen).toBe('span of a');
    expect(store.getStore()).toBeUndefined();
  });
});

describe('a traced hold', () => {
  async function begin() {
    const { clock, teller, about } = setUp();
    const heard = listen<HoldMessage>(holdChannel);
    const hold = await traceAcquire(teller, about, {}, async () => new Held());
    return { clock, heard, trace: hold.trace as HoldTrace };
  }

  it('lasts until the call that releases it, and ends with the answer', async () => {
    const { clock, heard, trace } = await begin();
    expect(heard.map(({ step }) => step)).toEqual(['start', 'end']);
    await clock.advance(400);
    const leaving = trace.leaves(clock.advance(100).then(() => true));
    expect(heard).toHaveLength(2);
    expect(await leaving).toBe(true);
    expect(heard.at(-1)).toMatchObject({ step: 'asyncEnd', said: { ended: 'released', heldMs: 400 } });
    expect(new Set(heard.map(({ message }) => message)).size).toBe(1);
  });

  it('is lost when the server no longer knew it', async () => {
    const { heard, trace } = await begin();
    expect(await trace.leaves(Promise.resolve(false))).toBe(false);
    expect(heard.at(-1)?.said).toMatchObject({ ended: 'lost', reason: 'notOwner' });
  });

  it('is released when only the answer is missing', async () => {
    const { heard, trace } = await begin();
    const unknown = new Error('no answer');
    await expect(trace.leaves(Promise.reject(unknown))).rejects.toBe(unknown);
    expect(heard.at(-1)?.said).toMatchObject({ ended: 'released' });
  });

  it('ends once', async () => {
    const { heard, trace } = await begin();
    trace.lost('expired');
    await trace.leaves(Promise.resolve(false));
    expect(heard.map(({ step }) => step)).toEqual(['start', 'end', 'asyncStart', 'asyncEnd']);
    expect(heard.at(-1)?.said).toMatchObject({ ended: 'lost', reason: 'expired' });
  });
});
