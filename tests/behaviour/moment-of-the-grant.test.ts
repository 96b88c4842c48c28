/**
 * A caller that gives up in the very moment of the grant: between the server's answer and the handle there are
 * some turns of the microtask queue, and an abort may fall into any of them. Nothing may stay taken.
 */
import { describe, expect, it } from 'vitest';
import { Holdfast, type Permit, type RedisClient } from '../../src/index.ts';
import { randomName } from '../harness/names.ts';
import { eventually } from '../harness/wait.ts';
import {
  type BringYourOwn,
  closedAtEnd,
  describeOnCluster,
  forbidUnhandledRejections,
  throughIoredis,
  throughIoredisCluster,
  throughNodeRedis,
  throughNodeRedisCluster,
} from './support/context.ts';
import { stored } from './support/permit-semaphore-by-hand.ts';

/** More turns than there are between the answer and the handle. */
const TURNS = 40;

/** The one way by which all of these libraries send, whatever they expect there. */
interface Sender {
  sendCommand(...command: unknown[]): unknown;
}

/** A user's client that tells of the next answer before anybody else hears of it. */
async function openTelling(
  context: BringYourOwn,
): Promise<{ redis: RedisClient; onNextAnswer(act: () => void): void }> {
  const { redis } = await context.userClient();
  const sender = redis as unknown as Sender;
  let act: (() => void) | undefined;
  const send = sender.sendCommand.bind(sender);
  sender.sendCommand = (...command) => {
    const answered = send(...command) as Promise<unknown>;
    const tell = act;
    act = undefined;
    if (tell !== undefined) void answered.then(tell, tell);
    return answered;
  };
  const onNextAnswer = (next: () => void) => {
    act = next;
  };
  return { redis, onNextAnswer };
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await Promise.resolve();
}

describe('an abort in the moment of the grant', () => {
  forbidUnhandledRejections();
  for (const context of [throughIoredis, throughNodeRedis]) {
    describe(`through ${context.title}`, () => describeMoment(context));
  }
  describeOnCluster('on a Cluster', () => {
    for (const context of [throughIoredisCluster, throughNodeRedisCluster]) {
      describe(`through ${context.title}`, () => describeMoment(context));
    }
  });
});

function describeMoment(context: BringYourOwn): void {
  it.each([{ waitMs: undefined }, { waitMs: 0 }, { waitMs: 10_000 }])(
    'either takes a permit or takes none: waiting $waitMs ms',
    async ({ waitMs }) => {
      const { redis, onNextAnswer } = await openTelling(context);
      const client = closedAtEnd(Holdfast.from(redis));
      await client.capabilities();
      const raw = await context.raw();
      const semaphore = client.getPermitExpirableSemaphore(randomName());
      await semaphore.trySetPermits(1);
      await (await semaphore.acquire()).release();
      const outcomes = new Set<string>();
      for (let late = 0; late < TURNS; late += 1) {
        const giveUp = new AbortController();
        const { signal } = giveUp;
        onNextAnswer(() => void turns(late).then(() => giveUp.abort()));
        const asked: Promise<Permit | null> =
          waitMs === undefined ? semaphore.acquire({ signal }) : semaphore.tryAcquire({ signal, waitMs });
        const permit = await asked.catch((reason: unknown) => {
          expect(reason).toBe(signal.reason);
          return null;
        });
        outcomes.add(permit === null ? 'aborted' : 'granted');
        if (permit !== null) expect(await permit.release()).toBe(true);
        await eventually(async () => expect(await stored(raw, semaphore.name)).toEqual([1, 0]));
      }
      expect(outcomes).toEqual(new Set(['aborted', 'granted']));
    },
  );

  it('leaves nothing taken when the client closes', async () => {
    const raw = await context.raw();
    const { redis, onNextAnswer } = await openTelling(context);
    for (let late = 0; late < TURNS; late += 1) {
      const client = Holdfast.from(redis);
      await client.capabilities();
      const semaphore = client.getPermitExpirableSemaphore(randomName());
      await semaphore.trySetPermits(1);
      let closed: Promise<void> | undefined;
      onNextAnswer(() => {
        closed = turns(late).then(() => client.close());
      });
      const permit = await semaphore.acquire().catch(() => null);
      await closed;
      expect(await permit?.release()).not.toBe(true);
      expect(await stored(raw, semaphore.name)).toEqual([1, 0]);
      await raw.command('DEL', semaphore.name);
    }
  });

  it('leaves no permit of a plain semaphore taken, aborted or closed', async () => {
    const raw = await context.raw();
    const available = (name: string) => raw.command('GET', name);
    const { redis, onNextAnswer } = await openTelling(context);
    for (let late = 0; late < TURNS; late += 1) {
      const client = Holdfast.from(redis);
      await client.capabilities();
      const semaphore = client.getSemaphore(randomName());
      await semaphore.trySetPermits(1);

      const giveUp = new AbortController();
      onNextAnswer(() => void turns(late).then(() => giveUp.abort()));
      const taken = await semaphore.acquire(1, { signal: giveUp.signal }).then(
        () => true,
        () => false,
      );
      if (taken) await semaphore.release();
      await eventually(async () => expect(await available(semaphore.name)).toBe('1'));

      let closed: Promise<void> | undefined;
      onNextAnswer(() => {
        closed = turns(late).then(() => client.close());
      });
      const kept = await semaphore.acquire().then(
        () => true,
        () => false,
      );
      await closed;
      // Who was told that it has the permit has it; who was told otherwise has taken nothing.
      expect(await available(semaphore.name)).toBe(kept ? '0' : '1');
      await raw.command('DEL', semaphore.name);
    }
  });

  it('leaves no lock held when the client closes', async () => {
    const raw = await context.raw();
    const { redis, onNextAnswer } = await openTelling(context);
    for (let late = 0; late < TURNS; late += 1) {
      const client = Holdfast.from(redis);
      await client.capabilities();
      const lock = client.getLock(randomName());
      await (await lock.lock()).unlock();
      let closed: Promise<void> | undefined;
      onNextAnswer(() => {
        closed = turns(late).then(() => client.close());
      });
      const hold = await lock.lock().catch(() => null);
      await closed;
      expect(hold?.signal.aborted ?? true).toBe(true);
      expect(await raw.command('EXISTS', lock.name)).toBe(0);
    }
  });
}
