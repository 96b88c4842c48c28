/** Who is who, across processes and threads, and across the asynchronous calls of one. */
import { fileURLToPath } from 'node:url';
import { describe, expect, it, vi } from 'vitest';
import { NotHeldError } from '../../src/index.ts';
import { spawnChild } from '../harness/child.ts';
import { randomName } from '../harness/names.ts';
import { describeWithProcess } from '../harness/servers.ts';
import { arena, join } from './support/arena.ts';
import { firstWord, WITH_CHILDREN_MS } from './support/first-word.ts';
import { LAYOUTS } from './support/kinds.ts';

vi.setConfig({ testTimeout: WITH_CHILDREN_MS });

describe('many processes and worker threads', () => {
  it('50 clients in 5 processes with 2 threads each have 50 ids', async () => {
    const script = fileURLToPath(new URL('./children/identifies.ts', import.meta.url));
    const children = Array.from({ length: 5 }, () => spawnChild(script));
    const found = await Promise.all(
      children.map(async (child) => {
        const { ids: inMain } = await firstWord(child, ({ ids }) => ids !== undefined);
        const { ids: inWorker } = await firstWord(child, ({ thread }) => thread !== undefined);
        return [...(inMain as string[]), ...(inWorker as string[])];
      }),
    );
    expect(found.flat()).toHaveLength(50);
    expect(new Set(found.flat()).size).toBe(50);
  });
});

describeWithProcess('inside one process', () => {
  it.each(LAYOUTS)('work that outlives its section is another owner for $title', async (kind) => {
    const { server } = await arena();
    const client = await join('Holdfast.connect', server);
    const lock = kind.get(client, randomName());
    let sectionIsOver: () => void = () => {};
    const over = new Promise<void>((resolve) => {
      sectionIsOver = resolve;
    });
    let detached: Promise<unknown[]> = Promise.resolve([]);
    await lock.withLock(async () => {
      detached = (async () => {
        const inside = await lock.tryLock();
        const reentered = inside !== null;
        await inside?.unlock();
        await over;
        const unlocked = await lock.unlock().catch((error: unknown) => error);
        return [reentered, await lock.tryLock(), await lock.isHeld(), unlocked];
      })();
      // Let it re-enter while the section lasts.
      await new Promise(setImmediate);
      while ((await lock.getHoldCount()) > 1);
    });
    const theirs = await lock.lock();
    sectionIsOver();
    expect(await detached).toEqual([true, null, false, expect.any(NotHeldError)]);
    theirs.assertHeld();
    expect(await theirs.unlock()).toBe(true);
  });

  it.each(LAYOUTS)('siblings in Promise.all take turns with $title', async (kind) => {
    const { server } = await arena();
    const client = await join('Holdfast.connect', server);
    const lock = kind.get(client, randomName());
    let inside = 0;
    const seen: number[] = [];
    const sibling = () =>
      lock.withLock(async () => {
        inside += 1;
        seen.push(inside);
        await lock.isLocked();
        inside -= 1;
      });
    await client.scope(() => Promise.all([sibling(), sibling(), sibling()]));
    await lock.withLock(() => Promise.all([sibling(), sibling(), sibling()]));
    expect(seen).toEqual([1, 1, 1, 1, 1, 1]);
    expect(await lock.isLocked()).toBe(false);
  });
});
