/**
 * The multi lock under faults: replies that get lost, servers that fall silent before, while and after it is
 * taken, holders that die. It is had whole or not at all, and what was taken of it is given back in the end.
 */
import { fileURLToPath } from 'node:url';
import { describe, expect, it, vi } from 'vitest';
import type { Hold, Holdfast } from '../../src/index.ts';
import { lockAcquire, lockRelease } from '../../src/scripts/generated.ts';
import type { TestServer } from '../../src/testing/index.ts';
import { spawnChild } from '../harness/child.ts';
import { randomName } from '../harness/names.ts';
import { describeWithProcess } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';
import type { MultiLockHoldsSettings } from './children/multi-lock-holds.ts';
import { type Arena, aborted, arena, expiryOf, join, SLACK_MS, timed } from './support/arena.ts';
import { EACH_WAY } from './support/each-way.ts';
import { firstWord, WITH_CHILDREN_MS } from './support/first-word.ts';
import { Journal } from './support/journal.ts';
import { runs } from './support/requests.ts';
import { WAYS, type Way } from './support/ways.ts';

vi.setConfig({ testTimeout: WITH_CHILDREN_MS });

const CHILD = fileURLToPath(new URL('./children/multi-lock-holds.ts', import.meta.url));
const ACQUIRE = runs(lockAcquire);
const RELEASE = runs(lockRelease);

/** So many times must a lock have been had in a storm, that it says something. */
const ENOUGH_ENTRIES = 11;

/** A lock on a server that stays well, and one on a server behind a proxy; the well one comes first, or last. */
async function stage(way: Way, options: object = {}, wellFirst = true) {
  const [well, ill]: [Arena, Arena] = [await arena(), await arena()];
  const [near, far] = [await join(way, well.server, options), await join(way, ill.proxy, options)];
  const name = randomName();
  const [wellName, illName] = wellFirst ? [`${name}:a`, `${name}:b`] : [`${name}:b`, `${name}:a`];
  const multi = near.getMultiLock(near.getLock(wellName), far.getLock(illName));
  return { well: well.server, ill: ill.server, proxy: ill.proxy, near, far, wellName, illName, multi };
}

async function holderOn(server: TestServer, name: string): Promise<string | undefined> {
  return ((await server.command('HKEYS', name)) as string[])[0];
}

async function freed(server: TestServer, name: string, withinMs = 10_000): Promise<void> {
  await eventually(async () => expect(await holderOn(server, name)).toBeUndefined(), { withinMs });
}

describeWithProcess('the multi lock, with a reply lost', () => {
  describe.each(EACH_WAY)('with %s', (way) => {
    it('of a grant: the lock is held once on each server, and freed by one unlock', async () => {
      const { well, ill, proxy, wellName, illName, multi } = await stage(way);
      const swallowed = proxy.swallowReply(ACQUIRE);
      const hold = await multi.lock();
      await swallowed;
      expect(await ill.command('HVALS', illName)).toEqual(['1']);
      expect(await hold.unlock()).toBe(true);
      await freed(well, wellName);
      await freed(ill, illName);
    });

    it('of a release: the lock is released once on each server', async () => {
      const { well, ill, proxy, wellName, illName, multi } = await stage(way);
      const hold = await multi.lock();
      const swallowed = proxy.swallowReply(RELEASE);
      expect(await hold.unlock()).toBe(true);
      await swallowed;
      await freed(well, wellName);
      await freed(ill, illName);
    });
  });
});

describeWithProcess('the multi lock, with a server that falls silent', () => {
  it.each(EACH_WAY)('before the acquisition: nothing stays held, with %s', async (way) => {
    const { well, ill, proxy, wellName, illName, multi } = await stage(way, { commandTimeoutMs: 500 });
    proxy.blackhole();
    const { error, tookMs } = await timed(multi.tryLock());
    expect(error).toMatchObject({ code: 'ERR_OUTCOME_UNKNOWN' });
    expect(tookMs).toBeLessThan(2 * 500 + SLACK_MS);
    await freed(well, wellName);
    await proxy.heal();
    await eventually(async () => {
      expect(await (await multi.tryLock())?.unlock()).toBe(true);
    });
    await freed(ill, illName);
  });

  it.each(EACH_WAY)(
    'before the release: the other member is released at once, this one later, with %s',
    async (way) => {
      const { well, ill, proxy, wellName, illName, multi } = await stage(way, { commandTimeoutMs: 500 });
      const hold = await multi.lock();
      proxy.blackhole();
      const { error, tookMs } = await timed(hold.unlock());
      expect(error).toMatchObject({ code: 'ERR_OUTCOME_UNKNOWN' });
      expect(tookMs).toBeLessThan(500 + SLACK_MS);
      expect(await holderOn(well, wellName)).toBeUndefined();
      expect(await holderOn(ill, illName)).toBeDefined();
      await proxy.heal();
      await freed(ill, illName);
    },
  );

  it.each(EACH_WAY)(
    'while the lock is held: the signal aborts in time, and the other member ends too, with %s',
    async (way) => {
      const options = { watchdogMs: 3_000, commandTimeoutMs: 500 };
      const { well, ill, proxy, wellName, illName, multi } = await stage(way, options);
      const hold = await multi.lock();
      const told = aborted(hold.signal);
      proxy.blackhole();
      const expiresAt = await expiryOf(ill, illName);
      const { value, atWallMs } = await told;
      expect(value).toMatchObject({
        lockName: multi.name,
        reason: 'unreachable',
        cause: { lockName: illName },
      });
      expect(atWallMs).toBeLessThan(expiresAt);
      expect(() => hold.assertHeld()).toThrow('no renewal reached the server in time');
      // Nobody gives it back: its other half is not kept forever.
      await freed(well, wellName);
      expect(await hold.unlock()).toBe(false);
    },
  );

  it('while the caller waits for the other member: the acquisition starts over when the server is back', async () => {
    const options = { watchdogMs: 1_500, commandTimeoutMs: 500 };
    const { well, ill, proxy, wellName, illName, multi } = await stage('Holdfast.connect', options, false);
    const theirs = await (await join('Holdfast.connect', well)).getLock(wellName).lock();
    const waiting = multi.lock();
    await eventually(async () => expect(await holderOn(ill, illName)).toBeDefined());
    await proxy.refuse();
    // What was collected is lost: the server drops it, and somebody else comes and goes.
    await freed(ill, illName);
    await (await (await join('Holdfast.connect', ill)).getLock(illName).lock()).unlock();
    await theirs.unlock();
    await proxy.heal();
    const hold = await waiting;
    hold.assertHeld();
    expect(hold.owner.split(' ')).toEqual([await holderOn(ill, illName), await holderOn(well, wellName)]);
    expect(await hold.unlock()).toBe(true);
  });

  it('with an abort: the call rejects at once, and nothing is left once the server is back', async () => {
    const { well, ill, proxy, wellName, illName, multi } = await stage('Holdfast.connect', {}, false);
    await multi.withLock(() => 'scripts and connections are there');
    const swallowed = proxy.swallowReply(ACQUIRE, { after: 'silence' });
    const controller = new AbortController();
    const waiting = timed(multi.lock({ signal: controller.signal }));
    await swallowed;
    expect(await holderOn(ill, illName)).toBeDefined();
    const from = performance.now();
    controller.abort('enough');
    expect((await waiting).error).toBe('enough');
    expect(performance.now() - from).toBeLessThan(SLACK_MS);
    await freed(well, wellName);
    await proxy.heal();
    await freed(ill, illName);
  });
});

describeWithProcess('the multi lock, with its holder killed', () => {
  it('is granted to the next caller when its leases have ended', async () => {
    const [one, two] = [await arena(), await arena()];
    const name = randomName();
    const places = [one.server, two.server].map(({ host, port }) => ({ host, port }));
    const settings: MultiLockHoldsSettings = { places, name, options: { watchdogMs: 2_000 } };
    const child = spawnChild(CHILD, { args: [JSON.stringify(settings)] });
    await firstWord(child, ({ held }) => held !== undefined);
    const clients = await Promise.all(places.map((place) => join('Holdfast.connect', place)));
    const locks = clients.map((client, i) => client.getLock(`${name}:${i}`)).reverse();
    const multi = clients[0]?.getMultiLock(...locks);
    expect(await multi?.tryLock()).toBeNull();
    const waiting = timed(multi?.lock() as Promise<Hold>);
    child.kill('SIGKILL');
    const { value, tookMs } = await waiting;
    expect(tookMs).toBeLessThan(2_000 + SLACK_MS);
    expect(await (value as Hold).unlock()).toBe(true);
  });
});

describeWithProcess('multi locks that overlap, while connections break', () => {
  it('are never held by two owners, all settle, and leave nothing behind', async () => {
    const arenas = [await arena(), await arena()];
    const journal = new Journal();
    const name = randomName();
    let endsAt = 0;
    let entries = 0;

    /** Takes pairs of three locks on two servers, again and again, in random order. */
    async function work(worker: number, clients: readonly Holdfast[]): Promise<void> {
      const recorder = journal.recorder(`worker ${worker}`);
      // A busy machine may get nobody in while connections break; once they hold, everybody comes in.
      while (performance.now() < endsAt || entries < ENOUGH_ENTRIES) {
        const letters = ['a', 'b', 'c'].sort(() => Math.random() - 0.5).slice(0, 2);
        const locks = letters.map((letter) =>
          (clients[letter === 'c' ? 1 : 0] as Holdfast).getLock(`${name}:${letter}`),
        );
        const request = { worker: `${worker}`, key: letters, kind: 'lock', waitMs: 1_000 } as const;
        const multi = (clients[0] as Holdfast).getMultiLock(...locks);
        const held = await recorder
          .acquire(request, () => multi.tryLock({ waitMs: 1_000 }))
          .catch(() => null);
        if (held === null) continue;
        entries += 1;
        await new Promise((resolve) => setImmediate(resolve));
        await held.release(() => held.hold.unlock()).catch(() => false);
      }
    }

    const opened = WAYS.map((way) =>
      Promise.all(
        // Many connect at once, and on a busy machine none may be given up.
        arenas.map(({ proxy }) => join(way, proxy, { watchdogMs: 5_000, commandTimeoutMs: 4_000 })),
      ),
    );
    const parties = await Promise.all(opened);
    endsAt = performance.now() + 4_000;
    const workers = parties.map((clients, worker) => work(worker, clients));
    let isCalm = false;
    const calm = Promise.all(workers).then(() => {
      isCalm = true;
    });
    const striking = eventually(
      () => {
        if (!isCalm && performance.now() < endsAt)
          arenas[Math.floor(Math.random() * 2)]?.proxy.dropConnections();
        return isCalm;
      },
      { withinMs: 60_000, everyMs: 60 },
    );
    await Promise.all([calm, striking]);
    expect(journal.violations()).toEqual([]);
    expect(entries).toBeGreaterThanOrEqual(ENOUGH_ENTRIES);
    for (const { server } of arenas) {
      for (const letter of ['a', 'b', 'c']) await freed(server, `${name}:${letter}`);
    }
  });
});
