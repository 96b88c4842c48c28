/** What every kind of lock publishes. */
import { describe, expect, it } from 'vitest';
import type { Holdfast } from '../../src/index.ts';
import { LABEL, randomName } from '../harness/names.ts';
import { openShared } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';
import { ACQUIRED, BEGUN, connect, hear, OVER, REJECTED, RELEASED } from './support/hearing.ts';
import { KINDS, type Kind } from './support/kinds.ts';

const obstacle = ({ of, against }: Kind, client: Holdfast, name: string) => (against ?? of)(client, name);

describe.each(KINDS)('a lock of the kind $kind', (kind) => {
  it('tells of the call, the hold and the release, with one object each', async () => {
    const client = await connect();
    const heard = hear(client);
    const name = randomName();
    const hold = await kind.of(client, name).lock();
    expect(heard.steps()).toEqual([...ACQUIRED, ...BEGUN]);
    expect(await hold.unlock()).toBe(true);
    expect(heard.steps()).toEqual([...ACQUIRED, ...BEGUN, ...RELEASED, ...OVER]);

    const subject = { clientId: client.id, label: LABEL, kind: kind.kind, name };
    const { owner } = hold;
    const token = 'token' in hold && hold.token !== undefined ? hold.token : undefined;
    expect(token === undefined).toBe(kind.kind !== 'fenced');
    const [acquire, ...otherCalls] = heard.of('acquire');
    expect(otherCalls).toEqual([]);
    expect(acquire).toEqual({
      ...subject,
      permits: undefined,
      isMember: false,
      outcome: 'granted',
      waitedMs: expect.any(Number),
      attempts: 1,
      contended: false,
      owner,
      token,
    });
    const [held] = heard.of('hold');
    expect(held).toEqual({
      ...subject,
      owner,
      token,
      isMember: false,
      acquire,
      ended: 'released',
      reason: undefined,
      heldMs: expect.any(Number),
    });
    expect(held?.acquire).toBe(acquire);
    expect(heard.of('release')).toEqual([{ ...subject, owner, permits: undefined, outcome: 'released' }]);
    for (const channel of ['acquire', 'hold', 'release'] as const)
      expect(heard.objects(channel).size).toBe(1);
  });

  it('tells that its only attempt was refused', async () => {
    const [client, other] = [await connect(), await connect()];
    const name = randomName();
    await obstacle(kind, other, name).lock();
    const heard = hear(client);
    expect(await kind.of(client, name).tryLock()).toBeNull();
    expect(heard.steps()).toEqual(ACQUIRED);
    expect(heard.of('acquire')).toMatchObject([{ outcome: 'timeout', attempts: 1, contended: true }]);
  });

  it('tells how long a caller waited for another client', async () => {
    const [client, other] = [await connect(), await connect()];
    const name = randomName();
    const hold = await obstacle(kind, other, name).lock();
    const heard = hear(client);
    const lock = kind.of(client, name);
    expect(await lock.tryLock({ waitMs: 30 })).toBeNull();
    expect(heard.of('acquire')[0]).toMatchObject({ outcome: 'timeout', contended: true });
    // The timers of Node.js may fire a little early.
    expect(heard.of('acquire')[0]?.waitedMs).toBeGreaterThan(25);

    const waiting = lock.lock();
    // Answered after the first attempt of the waiter, which was sent before it.
    await client.inspect(name);
    await hold.unlock();
    await waiting;
    const granted = heard.of('acquire')[1];
    expect(granted).toMatchObject({ outcome: 'granted', contended: true });
    expect(granted?.attempts).toBeGreaterThanOrEqual(2);
  });

  it('tells that the caller gave up, or that the client closed', async () => {
    const [client, other] = [await connect(), await connect()];
    const name = randomName();
    await obstacle(kind, other, name).lock();
    const heard = hear(client);
    const giveUp = new AbortController();
    const reason = new Error('enough');
    const waiting = kind.of(client, name).lock({ signal: giveUp.signal });
    giveUp.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    expect(heard.steps()).toEqual(REJECTED);
    expect(heard.of('acquire')[0]).toMatchObject({ outcome: 'aborted', error: reason });

    const until = kind.of(client, name).lock();
    const closing = client.close();
    await expect(until).rejects.toMatchObject({ code: 'ERR_CLOSED' });
    await closing;
    expect(heard.of('acquire')[1]).toMatchObject({ outcome: 'aborted', error: { code: 'ERR_CLOSED' } });
  });

  it('tells of an error', async () => {
    const client = await connect();
    const raw = await openShared();
    const name = randomName();
    await raw.command('ZADD', name, '1', 'no lock');
    const heard = hear(client);
    const error = await kind
      .of(client, name)
      .lock()
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Error);
    expect(heard.steps()).toEqual(REJECTED);
    expect(heard.of('acquire')).toMatchObject([{ outcome: 'failed', attempts: 1 }]);
    expect(heard.of('acquire')[0]?.error).toBe(error);
  });

  it('tells of a loss once, when it happens', async () => {
    const client = await connect();
    const heard = hear(client);
    const name = randomName();
    const lock = kind.of(client, name);
    const hold = await lock.lock();
    await lock.forceUnlock();
    expect(heard.steps().slice(0, 9)).toEqual([...ACQUIRED, ...BEGUN, ...OVER, 'lost']);
    expect(await hold.unlock()).toBe(false);
    expect(heard.of('hold')).toMatchObject([{ ended: 'lost', reason: 'forced' }]);
    expect(heard.of('lost')).toMatchObject([{ name, owner: hold.owner, reason: 'forced', label: LABEL }]);
  });

  it('tells of a release by force, as of the client that forces it', async () => {
    const [client, other] = [await connect(), await connect()];
    const name = randomName();
    const { owner } = await kind.of(other, name).lock();
    const heard = hear(client);
    expect(await kind.of(client, name).forceUnlock()).toBe(true);
    expect(await kind.of(client, name).forceUnlock()).toBe(false);
    expect(heard.steps()).toEqual(RELEASED);
    expect(heard.of('release')).toEqual([
      {
        clientId: client.id,
        label: LABEL,
        kind: kind.kind,
        name,
        owner,
        permits: undefined,
        outcome: 'released',
      },
    ]);
  });

  it('tells of a release that found it gone', async () => {
    const client = await connect();
    const raw = await openShared();
    const heard = hear(client);
    const hold = await kind.of(client, randomName()).lock();
    await raw.command('DEL', hold.name);
    expect(await hold.unlock()).toBe(false);
    expect(heard.of('release')).toMatchObject([{ outcome: 'lost', owner: hold.owner }]);
    expect(heard.of('hold')).toMatchObject([{ ended: 'lost', reason: 'notOwner' }]);
    expect(heard.of('lost')).toMatchObject([{ reason: 'notOwner' }]);
  });
});

describe.each(KINDS.filter(({ kind }) => kind !== 'nonReentrant'))('re-entry of the kind $kind', (kind) => {
  it('is a call and a hold for every entry, and one release', async () => {
    const client = await connect();
    const heard = hear(client);
    const lock = kind.of(client, randomName());
    await lock.withLock(() => lock.withLock(() => 1));
    const [outer, inner] = heard.of('acquire');
    expect([outer, inner]).toMatchObject([
      { outcome: 'granted', contended: false },
      { outcome: 'granted', attempts: 1, contended: false, owner: outer?.owner },
    ]);
    expect(heard.of('hold').map(({ acquire, ended }) => [acquire, ended])).toEqual([
      [inner, 'released'],
      [outer, 'released'],
    ]);
    expect(heard.of('release')).toHaveLength(1);
  });
});

describe('readers that are forced out together', () => {
  it('are one release, without an owner', async () => {
    const [client, other] = [await connect(), await connect()];
    const name = randomName();
    const readLock = (of: Holdfast) => of.getReadWriteLock(name).readLock();
    await readLock(client).lock();
    await readLock(other).lock();
    const heard = hear(client);
    expect(await readLock(client).forceUnlock()).toBe(true);
    expect(heard.of('release')).toMatchObject([{ kind: 'read', owner: undefined, outcome: 'released' }]);
  });
});

describe('the wake-up of a waiter', () => {
  /** A client waits for another one's lock, and has subscribed. */
  async function setUp() {
    const [client, other] = [await connect(), await connect()];
    const name = randomName();
    const hold = await other.getLock(name).lock();
    const heard = hear(client);
    const waiting = client.getLock(name).lock();
    const raw = await openShared();
    const channel = `redisson_lock__channel:{${name}}`;
    await eventually(async () => {
      expect(await raw.command('PUBSUB', 'NUMSUB', channel)).toEqual([channel, 1]);
    });
    return { clientId: client.id, hold, heard, waiting, raw, channel };
  }

  it('is told with the channel of the message', async () => {
    const { clientId, hold, heard, waiting, channel } = await setUp();
    await hold.unlock();
    await waiting;
    expect(heard.of('wake')).toEqual([{ clientId, by: 'message', source: channel }]);
  });

  it('is told with the key that a look found free', async () => {
    const { clientId, hold, heard, waiting, raw } = await setUp();
    // Without a message: only a poll finds this.
    await raw.command('DEL', hold.name);
    await waiting;
    expect(heard.of('wake')).toEqual([{ clientId, by: 'look', source: hold.name }]);
  }, 20_000);
});

describe('a lock that is passed on', () => {
  it('ends one hold before the next begins, without a release', async () => {
    const client = await connect({ passOn: { maxMs: 60_000 } });
    const heard = hear(client);
    const lock = client.getLock(randomName());
    const [first, second] = [lock.lock(), lock.lock()];
    await (await first).unlock();
    await (await second).unlock();
    const ofHolds = heard.all.filter(({ channel }) => channel === 'hold' || channel === 'release');
    const [former, next] = [...heard.objects('hold')];
    expect(ofHolds.map(({ channel, step, message }) => [channel, step, message === former ? 1 : 2])).toEqual([
      ['hold', 'start', 1],
      ['hold', 'end', 1],
      ['hold', 'asyncStart', 1],
      ['hold', 'asyncEnd', 1],
      ['hold', 'start', 2],
      ['hold', 'end', 2],
      ['release', 'start', 2],
      ['release', 'end', 2],
      ['release', 'asyncStart', 2],
      ['release', 'asyncEnd', 2],
      ['hold', 'asyncStart', 2],
      ['hold', 'asyncEnd', 2],
    ]);
    expect(next).toMatchObject({ acquire: { attempts: 0, contended: true, outcome: 'granted' } });
  });
});

describe('sections of one owner', () => {
  it('are contended while they wait for their turn', async () => {
    const client = await connect();
    const heard = hear(client);
    const lock = client.getLock(randomName());
    await client.scope(() => Promise.all([lock.withLock(() => 1), lock.withLock(() => 2)]));
    expect(heard.of('acquire')).toMatchObject([{ contended: false }, { contended: true }]);
  });
});

describe('web locks', () => {
  it('tell as the read/write lock that they are', async () => {
    const client = await connect();
    const heard = hear(client);
    const name = randomName();
    await client.locks.request(name, () => 1);
    await client.locks.request(name, { mode: 'shared' }, () => 1);
    expect(heard.of('hold')).toMatchObject([
      { kind: 'write', name, ended: 'released' },
      { kind: 'read', name, ended: 'released' },
    ]);
  });
});
