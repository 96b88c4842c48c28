/** Semaphores that create themselves, and warnings about those that nobody created: both kinds. */
import { describe, expect, it } from 'vitest';
import type { ClientEvents, Holdfast, SemaphoreOptions } from '../../src/index.ts';
import { OptionError } from '../../src/index.ts';
import {
  permitSemaphoreCountPermits,
  semaphoreAvailablePermits,
  semaphoreTrySetPermits,
} from '../../src/scripts/generated.ts';
import { runs } from '../chaos/support/requests.ts';
import type { RawView } from '../harness/cluster-connection.ts';
import { randomName } from '../harness/names.ts';
import { itWithProcess, ownProxy, ownServer } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';
import { type Context, describeThrough, onOneServer } from './support/context.ts';
import { WELL_BEFORE_POLL_MS } from './support/listeners.ts';
import { processWarnings, timed } from './support/moments.ts';
import { untilWaiting } from './support/semaphores.ts';

/** What both kinds of semaphore can do. */
interface Common {
  readonly name: string;
  trySetPermits(permits: number): Promise<boolean>;
  addPermits(permits: number): Promise<void>;
  availablePermits(): Promise<number>;
  /** One permit, at once; answers how to give it back. */
  take(): Promise<(() => Promise<unknown>) | null>;
  /** One permit, whenever there is one. */
  wait(signal?: AbortSignal): Promise<unknown>;
}

type Get = (client: Holdfast, name: string, options?: SemaphoreOptions) => Common;

const plain: Get = (client, name, options) => {
  const semaphore = client.getSemaphore(name, options);
  return {
    name,
    trySetPermits: (permits) => semaphore.trySetPermits(permits),
    addPermits: (permits) => semaphore.addPermits(permits),
    availablePermits: () => semaphore.availablePermits(),
    take: async () => ((await semaphore.tryAcquire()) ? () => semaphore.release() : null),
    wait: (signal) => semaphore.acquire(1, { signal }),
  };
};

const expirable: Get = (client, name, options) => {
  const semaphore = client.getPermitExpirableSemaphore(name, options);
  return {
    name,
    trySetPermits: (permits) => semaphore.trySetPermits(permits),
    addPermits: (permits) => semaphore.addPermits(permits),
    availablePermits: () => semaphore.availablePermits(),
    take: async () => {
      const permit = await semaphore.tryAcquire();
      return permit && (() => permit.release());
    },
    wait: (signal) => semaphore.acquire({ signal }),
  };
};

function warningsOf(client: Holdfast): ClientEvents['warning'][] {
  const warnings: ClientEvents['warning'][] = [];
  client.on('warning', (warning) => warnings.push(warning));
  return warnings;
}

async function free(raw: RawView, name: string): Promise<number | null> {
  const value = await raw.command('GET', name);
  return value === null ? null : Number(value);
}

function describeSetUp(context: Context): void {
  describe.each([
    ['a semaphore', plain],
    ['a permit-expirable semaphore', expirable],
  ])('%s with permits', (_title, get) => {
    it('is created by the first acquisition, with what it takes, and without a TTL', async () => {
      const raw = await context.raw();
      const client = await context.client();
      const semaphore = get(client, randomName(), { permits: 3 });
      expect(await raw.command('EXISTS', semaphore.name)).toBe(0);
      const giveBack = await semaphore.take();
      expect(giveBack).not.toBeNull();
      expect(await free(raw, semaphore.name)).toBe(2);
      expect(await raw.command('PTTL', semaphore.name)).toBe(-1);
      await giveBack?.();
      expect(await free(raw, semaphore.name)).toBe(3);
    });

    it('is created once by all that come at the same time, from every client', async () => {
      const name = randomName();
      const clients = [await context.client(), await context.client()];
      const taken = await Promise.all(
        Array.from({ length: 12 }, (_, i) => get(clients[i % 2] as Holdfast, name, { permits: 5 }).take()),
      );
      expect(taken.filter((giveBack) => giveBack !== null)).toHaveLength(5);
      expect(await free(await context.raw(), name)).toBe(0);
    });

    it('is created by a look, and by a change of its number', async () => {
      const client = await context.client();
      expect(await get(client, randomName(), { permits: 4 }).availablePermits()).toBe(4);
      const semaphore = get(client, randomName(), { permits: 4 });
      await semaphore.addPermits(2);
      expect(await semaphore.availablePermits()).toBe(6);
    });

    it('can begin with none', async () => {
      const raw = await context.raw();
      const semaphore = get(await context.client(), randomName(), { permits: 0 });
      expect(await semaphore.take()).toBeNull();
      expect(await free(raw, semaphore.name)).toBe(0);
      const waiter = semaphore.wait();
      await untilWaiting(raw, semaphore.name);
      await semaphore.addPermits(1);
      expect((await timed(() => waiter)).tookMs).toBeLessThan(WELL_BEFORE_POLL_MS);
    });

    it('is created again when it has vanished', async () => {
      const raw = await context.raw();
      const semaphore = get(await context.client(), randomName(), { permits: 2 });
      const giveBack = await semaphore.take();
      await raw.command('DEL', semaphore.name);
      // What was taken from it is gone with it.
      await giveBack?.();
      expect(await raw.command('EXISTS', semaphore.name)).toBe(0);
      expect(await semaphore.take()).not.toBeNull();
      expect(await free(raw, semaphore.name)).toBe(1);
    });

    it('keeps the number it has, and says so once', async () => {
      const raw = await context.raw();
      const client = await context.client();
      const warnings = warningsOf(client);
      const name = randomName();
      await raw.command('SET', name, 7);
      for (let i = 0; i < 3; i += 1) await (await get(client, name, { permits: 5 }).take())?.();
      await eventually(() => expect(warnings).toHaveLength(1));
      expect(warnings[0]).toMatchObject({ code: 'HOLDFAST_PERMITS_DIFFER', name });
      expect(warnings[0]?.message).toMatch(
        /has (?:at least 6|7) permits and keeps them; the code says \{ permits: 5 \}/,
      );
      expect(await free(raw, name)).toBe(7);
      await get(client, name, { permits: 5 }).availablePermits();
      expect(warnings).toHaveLength(1);
      expect((await client.health()).status).toBe('ok');
    });

    it('says nothing when the number is the same, however many are taken', async () => {
      const client = await context.client();
      const [warnings, theirs] = [warningsOf(client), warningsOf(await context.client())];
      const name = randomName();
      await get(await context.client(), name, { permits: 2 }).take();
      const semaphore = get(client, name, { permits: 2 });
      expect(await semaphore.take()).not.toBeNull();
      expect(await semaphore.take()).toBeNull();
      expect(await semaphore.availablePermits()).toBe(0);
      expect([...warnings, ...theirs]).toEqual([]);
    });

    it.each([-1, 1.5, Number.NaN, 2 ** 31, '1', null])('refuses %s of them', async (wrong) => {
      const client = await context.client();
      const options = { permits: wrong } as SemaphoreOptions;
      expect(() => get(client, randomName(), options)).toThrow(OptionError);
      expect(() => get(client, randomName(), { permit: 1 } as object)).toThrow(
        'the options here are permits',
      );
    });

    onOneServer(context, itWithProcess)('asks no more than one without, once it is there', async () => {
      const proxy = await ownProxy(await ownServer());
      const client = await context.client({}, proxy);
      const asked: string[] = [];
      const note = (what: string, script: { readonly sha1: string }) => {
        const request = proxy.holdRequest(runs(script));
        // Rejects when the proxy is closed and nothing was asked.
        request.held.then(
          () => {
            asked.push(what);
            request.release();
          },
          () => {},
        );
      };
      note('created', semaphoreTrySetPermits);
      const semaphore = get(client, randomName(), { permits: 2 });
      await (await semaphore.take())?.();
      expect(asked).toEqual(['created']);
      note('created again', semaphoreTrySetPermits);
      note('looked', semaphoreAvailablePermits);
      note('counted', permitSemaphoreCountPermits);
      // Another object of that name knows it, too.
      for (const each of [semaphore, get(client, semaphore.name, { permits: 2 })]) {
        for (let i = 0; i < 3; i += 1) await (await each.take())?.();
      }
      expect(asked).toEqual(['created']);
    });
  });

  describe('a semaphore with permits', () => {
    it('is created by a release, with its number and what is given', async () => {
      const raw = await context.raw();
      const semaphore = (await context.client()).getSemaphore(randomName(), { permits: 0 });
      await semaphore.release(2);
      expect(await free(raw, semaphore.name)).toBe(2);
      expect(await semaphore.drainPermits()).toBe(2);
    });
  });

  describe('a permit-expirable semaphore with permits', () => {
    it('tells of a number that was raised, and how to set it', async () => {
      const client = await context.client();
      const warnings = warningsOf(client);
      const name = randomName();
      await client.getPermitExpirableSemaphore(name, { permits: 3 }).acquire();
      const raised = client.getPermitExpirableSemaphore(name, { permits: 5 });
      await raised.acquire();
      await eventually(() => expect(warnings).toHaveLength(1));
      expect(warnings[0]?.message).toContain('has 3 permits');
      expect(warnings[0]?.message).toContain('setPermits(5)');
      await raised.setPermits(5);
      expect(await raised.availablePermits()).toBe(3);
      expect(warnings).toHaveLength(1);
    });
  });

  describe.each([
    ['a semaphore', plain],
    ['a permit-expirable semaphore', expirable],
  ])('%s that nobody created', (_title, get) => {
    it('is told of once, and waited for all the same', async () => {
      const raw = await context.raw();
      const client = await context.client();
      const warnings = warningsOf(client);
      const name = randomName();
      const waiters = [get(client, name).wait(), get(client, name).wait()];
      await untilWaiting(raw, name);
      await eventually(() => expect(warnings).toHaveLength(1));
      expect(warnings[0]).toMatchObject({ code: 'HOLDFAST_NOT_SET_UP', name });
      expect(warnings[0]?.message).toContain('trySetPermits');
      expect(await get(client, name).take()).toBeNull();
      // Redisson sets it later.
      await raw.command('SET', name, 2);
      await raw.command('PUBLISH', `redisson_sc:{${name}}`, '2');
      const { tookMs } = await timed(() => Promise.all(waiters));
      expect(tookMs).toBeLessThan(WELL_BEFORE_POLL_MS);
      expect(warnings).toHaveLength(1);
      expect((await client.health()).status).toBe('ok');
    });

    it('is told of by the process when nobody listens, each by its name', async () => {
      const warnings = processWarnings();
      const client = await context.client();
      const names = [randomName(), randomName()];
      for (const name of names) expect(await get(client, name).take()).toBeNull();
      await eventually(() => {
        const told = warnings.filter(
          (warning) => 'code' in warning && warning.code === 'HOLDFAST_NOT_SET_UP',
        );
        expect(told.map(({ message }) => names.findIndex((name) => message.includes(name)))).toEqual([0, 1]);
      });
    });

    it('is not told of when it exists and has none', async () => {
      const client = await context.client();
      const warnings = warningsOf(client);
      const semaphore = get(client, randomName());
      await semaphore.trySetPermits(0);
      expect(await semaphore.take()).toBeNull();
      expect(await semaphore.availablePermits()).toBe(0);
      expect(warnings).toEqual([]);
    });
  });
}

describeThrough('set-up of semaphores', describeSetUp);
