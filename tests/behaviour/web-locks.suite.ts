/** `client.locks`: the standard's requests, their arguments, stealing and querying. */
import { describe, expect, it } from 'vitest';
import { ClosedError, LeaseLostError, OptionError, type WebLock } from '../../src/index.ts';
import { randomName } from '../harness/names.ts';
import { eventually } from '../harness/wait.ts';
import { type Context, describeThrough } from './support/context.ts';
import { untilListening } from './support/listeners.ts';
import { gate, rejection, whenAborted } from './support/moments.ts';
import { fieldsOf, RedissonReadWriteByHand } from './support/read-write-lock-by-hand.ts';

function describeWebLocks(context: Context): void {
  describe('request', () => {
    it('runs the callback with the lock, resolves with its result and has released by then', async () => {
      const client = await context.client();
      const raw = await context.raw();
      const name = randomName();
      const result = await client.locks.request(name, async (lock) => {
        expect(lock).toMatchObject({ name, mode: 'exclusive' });
        lock.assertHeld();
        expect(await fieldsOf(raw, name)).toEqual({ mode: 'write', [lock.owner]: '1' });
        return 'done';
      });
      expect(result).toBe('done');
      expect(await raw.command('EXISTS', name)).toBe(0);
      const shared = await client.locks.request(name, { mode: 'shared' }, async (lock) => [
        lock.mode,
        await fieldsOf(raw, name),
        lock.owner,
      ]);
      expect(shared.slice(0, 2)).toEqual(['shared', { mode: 'read', [shared[2] as string]: '1' }]);
    });

    it('rejects with the error of the callback after the release', async () => {
      const client = await context.client();
      const raw = await context.raw();
      const name = randomName();
      const broken = new Error('from the callback');
      expect(await rejection(client.locks.request(name, () => Promise.reject(broken)))).toBe(broken);
      expect(await raw.command('EXISTS', name)).toBe(0);
    });

    it('shared requests run together, an exclusive one alone, across clients', async () => {
      const [ours, theirs] = [await context.client(), await context.client()];
      const name = randomName();
      const together = gate();
      let inside = 0;
      const share = async () => {
        inside += 1;
        if (inside === 2) together.open();
        await together.opened;
        inside -= 1;
      };
      await Promise.all([
        ours.locks.request(name, { mode: 'shared' }, share),
        theirs.locks.request(name, { mode: 'shared' }, share),
      ]);
      let most = 0;
      const alone = async () => {
        inside += 1;
        most = Math.max(most, inside);
        await new Promise(setImmediate);
        inside -= 1;
      };
      await Promise.all([ours, theirs, ours, theirs].map((client) => client.locks.request(name, alone)));
      expect(most).toBe(1);
    });

    it('a pending exclusive request holds later shared ones back', async () => {
      const [ours, theirs] = [await context.client(), await context.client()];
      const raw = await context.raw();
      const name = randomName();
      const order: string[] = [];
      const leave = gate();
      const first = ours.locks.request(name, { mode: 'shared' }, () => leave.opened);
      await eventually(async () => (await raw.command('EXISTS', name)) === 1);
      const exclusive = theirs.locks.request(name, () => order.push('exclusive'));
      await eventually(async () => (await raw.command('EXISTS', `holdfast_rwlock_waiting:{${name}}`)) === 1);
      const shared = ours.locks.request(name, { mode: 'shared' }, () => order.push('shared'));
      await eventually(async () => (await ours.locks.query()).pending.length === 1);
      leave.open();
      await Promise.all([first, exclusive, shared]);
      expect(order).toEqual(['exclusive', 'shared']);
    });

    it('a pending exclusive request holds shared ones back also when the request before it is aborted', async () => {
      const [ours, theirs] = [await context.client(), await context.client()];
      const raw = await context.raw();
      const name = randomName();
      const waiting = `holdfast_rwlock_waiting:{${name}}`;
      const order: string[] = [];
      const leave = gate();
      const first = ours.locks.request(name, { mode: 'shared' }, () => leave.opened);
      await eventually(async () => (await raw.command('EXISTS', name)) === 1);
      const giveUp = new AbortController();
      const aborted = rejection(theirs.locks.request(name, { signal: giveUp.signal }, () => 'in'));
      await eventually(async () => (await raw.command('EXISTS', waiting)) === 1);
      const exclusive = theirs.locks.request(name, () => order.push('exclusive'));
      await eventually(async () => (await theirs.locks.query()).pending.length === 2);
      const shared = ours.locks.request(name, { mode: 'shared' }, () => order.push('shared'));
      await eventually(async () => (await ours.locks.query()).pending.length === 1);
      // Both listen: from here on nothing but a message makes the shared request look again soon.
      const channel = `redisson_rwlock:{${name}}`;
      await untilListening(raw, channel, 2);
      const [noted] = (await raw.command('ZRANGE', waiting, 0, -1)) as [string];
      giveUp.abort(new Error('enough'));
      expect(await aborted).toBe(giveUp.signal.reason);
      await eventually(async () => (await raw.command('ZSCORE', waiting, noted)) === null);
      await eventually(async () => (await raw.command('EXISTS', waiting)) === 1);
      leave.open();
      await Promise.all([first, exclusive, shared]);
      expect(order).toEqual(['exclusive', 'shared']);
    });

    it('ifAvailable calls back with null instead of waiting', async () => {
      const client = await context.client();
      const name = randomName();
      await client.locks.request(name, async () => {
        const busy = await client.locks.request(name, { ifAvailable: true }, (lock) => lock);
        expect(busy).toBeNull();
        const shared = await client.locks.request(
          name,
          { ifAvailable: true, mode: 'shared' },
          (lock) => lock,
        );
        expect(shared).toBeNull();
      });
      const free = await client.locks.request(name, { ifAvailable: true }, (lock) => lock?.mode);
      expect(free).toBe('exclusive');
    });

    it('every request has its own owner: a nested request waits, and an abort ends the wait', async () => {
      const client = await context.client();
      const name = randomName();
      await client.locks.request(name, async (outer) => {
        const giveUp = new AbortController();
        const inner = rejection(client.locks.request(name, { signal: giveUp.signal }, () => 'in'));
        await eventually(async () => (await client.locks.query()).pending.length === 1);
        giveUp.abort(new Error('enough'));
        expect(await inner).toBe(giveUp.signal.reason);
        expect((await client.locks.query()).pending).toEqual([]);
        outer.assertHeld();
      });
    });

    it('an aborted signal makes no request, and an abort after the grant changes nothing', async () => {
      const client = await context.client();
      const name = randomName();
      const reason = new Error('too late');
      let ran = false;
      const refused = client.locks.request(name, { signal: AbortSignal.abort(reason) }, () => {
        ran = true;
      });
      expect(await rejection(refused)).toBe(reason);
      expect(ran).toBe(false);
      const late = new AbortController();
      const result = await client.locks.request(name, { signal: late.signal }, (lock) => {
        late.abort();
        lock.assertHeld();
        return 'still held';
      });
      expect(result).toBe('still held');
    });

    it('rejects with the loss when the lock was gone by the end', async () => {
      const client = await context.client();
      const raw = await context.raw();
      const name = randomName();
      const error = await rejection(client.locks.request(name, () => raw.command('DEL', name)));
      expect(error).toBeInstanceOf(LeaseLostError);
      expect(error).toMatchObject({ lockName: name, reason: 'notOwner' });
    });

    it('refuses the arguments that the standard refuses, before anything is sent', async () => {
      const client = await context.client();
      const raw = await context.raw();
      const name = randomName();
      const { signal } = new AbortController();
      const wrong: [unknown, unknown, unknown?][] = [
        [name, { steal: true, ifAvailable: true }, () => 1],
        [name, { steal: true, mode: 'shared' }, () => 1],
        [name, { steal: true, signal }, () => 1],
        [name, { ifAvailable: true, signal }, () => 1],
        [name, { mode: 'read' }, () => 1],
        [name, { steal: 'yes' }, () => 1],
        [name, { wait: 5 }, () => 1],
        [name, {}, 'no function'],
        [name, 'no function'],
        [`-${name}`, () => 1],
        ['', () => 1],
      ];
      for (const [given, ...rest] of wrong) {
        const call = (client.locks.request as (...args: unknown[]) => Promise<unknown>).bind(client.locks);
        expect(await rejection(call(given, ...rest))).toBeInstanceOf(OptionError);
      }
      expect(await raw.command('KEYS', `*${name}*`)).toEqual([]);
    });

    it('is turned away when the client is closed', async () => {
      const client = await context.client();
      const { locks } = client;
      await client.close();
      expect(await rejection(locks.request(randomName(), () => 1))).toBeInstanceOf(ClosedError);
    });
  });

  describe('steal', () => {
    it("takes the lock from all holders; the signals of this client's holders abort at once", async () => {
      const [ours, theirs] = [await context.client(), await context.client()];
      const raw = await context.raw();
      const name = randomName();
      const held: WebLock[] = [];
      const share = async (lock: WebLock) => {
        held.push(lock);
        await whenAborted(lock.signal);
      };
      const mine = rejection(ours.locks.request(name, { mode: 'shared' }, share));
      await eventually(() => held.length === 1);
      const leave = gate();
      const other = rejection(theirs.locks.request(name, { mode: 'shared' }, () => leave.opened));
      await eventually(async () => Object.keys(await fieldsOf(raw, name)).length === 3);

      await ours.locks.request(name, { steal: true }, async (lock) => {
        expect(lock.mode).toBe('exclusive');
        expect(await fieldsOf(raw, name)).toEqual({ mode: 'write', [lock.owner]: '1' });
        expect(held[0]?.signal.reason).toMatchObject({ reason: 'forced' });
        leave.open();
        expect(await other).toMatchObject({ code: 'ERR_LEASE_LOST', reason: 'notOwner' });
        lock.assertHeld();
      });
      expect(await mine).toMatchObject({ code: 'ERR_LEASE_LOST', reason: 'forced' });
      expect(await raw.command('EXISTS', name)).toBe(0);
    });

    it('overtakes waiting requests of this client, which get the lock afterwards', async () => {
      const client = await context.client();
      const name = randomName();
      const order: string[] = [];
      let first: WebLock | undefined;
      const robbed = rejection(
        client.locks.request(name, async (lock) => {
          first = lock;
          await whenAborted(lock.signal);
        }),
      );
      await eventually(() => first !== undefined);
      const waiting = client.locks.request(name, () => order.push('waited'));
      await eventually(async () => (await client.locks.query()).pending.length === 1);
      await client.locks.request(name, { steal: true }, () => order.push('stole'));
      expect(await robbed).toMatchObject({ reason: 'forced' });
      await waiting;
      expect(order).toEqual(['stole', 'waited']);
    });
  });

  describe('query', () => {
    it('lists the held and pending requests of this client, and other holders of those names', async () => {
      const [ours, theirs] = [await context.client(), await context.client()];
      const raw = await context.raw();
      const [mine, busy, foreign] = [randomName(), randomName(), randomName()];
      expect(await ours.locks.query()).toEqual({ held: [], pending: [] });
      const leave = gate();
      const java = new RedissonReadWriteByHand(raw, mine);
      const requests = [
        ours.locks.request(mine, { mode: 'shared' }, () => leave.opened),
        theirs.locks.request(busy, () => leave.opened),
        theirs.locks.request(foreign, () => leave.opened),
      ];
      await eventually(async () => Number(await raw.command('EXISTS', mine, busy, foreign)) === 3);
      requests.push(ours.locks.request(busy, { mode: 'shared' }, () => undefined));
      await java.tryRead();

      const { held, pending } = await eventually(async () => {
        const now = await ours.locks.query();
        expect([now.held.length, now.pending.length]).toEqual([3, 1]);
        return now;
      });
      expect(pending).toEqual([{ name: busy, mode: 'shared', clientId: ours.id }]);
      const javaId = java.reader.split(':')[0];
      expect(held).toEqual(
        expect.arrayContaining([
          { name: mine, mode: 'shared', clientId: ours.id },
          { name: mine, mode: 'shared', clientId: javaId },
          { name: busy, mode: 'exclusive', clientId: theirs.id },
        ]),
      );
      leave.open();
      await Promise.all(requests);
      expect(await ours.locks.query()).toEqual({ held: [], pending: [] });
    });
  });
}

describeThrough('web locks', describeWebLocks);
