/**
 * The harness can fail: each defect that is built in here is found by the same check that the real client
 * passes in the same situation.
 */
import { expect, it } from 'vitest';
import type { Hold, Holdfast } from '../../src/index.ts';
import { lockEnter, lockRelease } from '../../src/scripts/generated.ts';
import type { TestServer } from '../../src/testing/index.ts';
import { randomName } from '../harness/names.ts';
import { describeWithProcess } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';
import { aborted, arena, join } from './support/arena.ts';
import { check, type HistoryEvent, nowNs, type Record, recorder, type Violation } from './support/history.ts';
import { LOCK } from './support/kinds.ts';
import { mutant } from './support/mutants.ts';

const key = 'lock';

/** Notes a grant, and the loss when it comes. */
function noteGrant(record: Record, worker: number, hold: Hold): void {
  record({ op: 'acquire', type: 'ok', worker, key, hold: hold.owner });
  hold.signal.addEventListener('abort', () =>
    record({ op: 'lost', type: 'info', worker, key, hold: hold.owner }),
  );
}

async function noteUnlock(record: Record, worker: number, hold: Hold): Promise<void> {
  record({ op: 'unlock', type: 'invoke', worker, key, hold: hold.owner });
  const type = (await hold.unlock()) ? 'ok' : 'fail';
  record({ op: 'unlock', type, worker, key, hold: hold.owner });
}

/** A holder outlives its lease, somebody else comes in, the old holder unlocks, a third one tries. */
async function staleUnlock(server: TestServer, stale: Holdfast): Promise<Violation[]> {
  const events: HistoryEvent[] = [];
  const record = recorder(events);
  const name = randomName();
  const old = await stale.getLock(name).lock({ leaseMs: 600 });
  noteGrant(record, 1, old);
  await aborted(old.signal);
  const second = await (await join('Holdfast.connect', server)).getLock(name).lock();
  noteGrant(record, 2, second);
  await noteUnlock(record, 1, old);
  // What the old holder releases in the background has run when its owner is marked as ended.
  await eventually(
    async () => ((await server.command('KEYS', `*${old.owner}`)) as string[])[0] !== undefined,
  );
  const third = await (await join('Holdfast.connect', server)).getLock(name).tryLock();
  if (third !== null) noteGrant(record, 3, third);
  if (third !== null) await noteUnlock(record, 3, third);
  await noteUnlock(record, 2, second);
  return check(events);
}

describeWithProcess('unlock without an owner check', () => {
  const mutation = {
    script: lockRelease,
    replace: "redis.pcall('HEXISTS', lock, owner) == 1",
    by: "redis.call('EXISTS', lock) == 1",
  };

  it('is red', async () => {
    const { server } = await arena();
    expect(await staleUnlock(server, await mutant(server, mutation))).toMatchObject([{ kind: 'overlap' }]);
  });

  it('is green without the mutation', async () => {
    const { server } = await arena();
    expect(await staleUnlock(server, await join('default ioredis 6', server))).toEqual([]);
  });
});

describeWithProcess('a relative count with double delivery', () => {
  const mutation = {
    script: lockEnter,
    replace: "redis.call('HSET', lock, owner, count)",
    by: "redis.call('HINCRBY', lock, owner, 1)",
  };

  async function countAfterLostReply(isMutant: boolean): Promise<number | null> {
    const { server, proxy } = await arena();
    const name = randomName();
    const client = isMutant ? await mutant(proxy, mutation) : await join('default ioredis 6', proxy);
    return client.scope(async () => {
      await client.getLock(name).lock();
      // The mutant has no script of this kind cached, and sends it by its source.
      const swallowed = proxy.swallowReply(isMutant ? /^EVAL .*HINCRBY/s : LOCK.requests.enter);
      await client.getLock(name).lock();
      await swallowed;
      return LOCK.countOn(server, name);
    });
  }

  it('is red', async () => {
    expect(await countAfterLostReply(true)).toBe(3);
  });

  it('is green without the mutation', async () => {
    expect(await countAfterLostReply(false)).toBe(2);
  });
});

describeWithProcess('a deadline', () => {
  it('counted from the reply is red, counted from before the request green', async () => {
    const { server, proxy } = await arena();
    const name = randomName();
    const leaseMs = 1_500;
    const slow = await join('Holdfast.connect', proxy);
    const other = (await join('Holdfast.connect', server)).getLock(name);
    await slow.getLock(name).isLocked();
    const ours: HistoryEvent[] = [];
    const mutated: HistoryEvent[] = [];
    const both = [recorder(ours), recorder(mutated)] as const;

    // The reply is on its way for so long that little of the lease is left when it arrives.
    proxy.delay(500);
    const hold = await slow.getLock(name).lock({ leaseMs });
    const readAt = nowNs();
    const grant = { op: 'acquire', type: 'ok', worker: 1, key, hold: hold.owner } as const;
    both[0]({ ...grant, deadlineNs: readAt + hold.remainingMs * 1e6 });
    both[1]({ ...grant, deadlineNs: readAt + leaseMs * 1e6 });

    const theirs = await other.lock();
    for (const record of both) {
      record({ op: 'acquire', type: 'ok', worker: 2, key, hold: theirs.owner });
      record({ op: 'unlock', type: 'invoke', worker: 2, key, hold: theirs.owner });
    }
    expect(await theirs.unlock()).toBe(true);
    for (const record of both) {
      record({ op: 'unlock', type: 'ok', worker: 2, key, hold: theirs.owner });
      record({ op: 'lost', type: 'info', worker: 1, key, hold: hold.owner });
    }
    expect(check(ours)).toEqual([]);
    expect(check(mutated)).toMatchObject([{ kind: 'overlap', first: { hold: hold.owner } }]);
  });

  it('told when the lease has ended is red, told before green', async () => {
    const { server } = await arena();
    const name = randomName();
    const client = await join('Holdfast.connect', server);
    const hold = await client.getLock(name).lock({ leaseMs: 1_000 });
    const askedAt = nowNs();
    const expiresNs = askedAt + Number(await server.command('PTTL', name)) * 1e6;
    const grant = { op: 'acquire', type: 'ok', worker: 1, key, hold: hold.owner, expiresNs } as const;
    const loss = { op: 'lost', type: 'info', worker: 1, key, hold: hold.owner } as const;
    const ours: HistoryEvent[] = [];
    const mutated: HistoryEvent[] = [];
    recorder(ours)(grant);
    recorder(mutated)(grant);

    const { value } = await aborted(hold.signal);
    recorder(ours)(loss);
    expect(value).toMatchObject({ reason: 'expired' });
    await eventually(async () => (await server.command('EXISTS', name)) === 0);
    recorder(mutated)(loss);
    expect(check(ours)).toEqual([]);
    expect(check(mutated)).toMatchObject([{ kind: 'late loss', hold: hold.owner }]);
  });
});
