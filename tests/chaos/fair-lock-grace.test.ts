/**
 * Fair waiters through a grace of the guard: the server is another one, or has started anew, and keeps strangers
 * out; meanwhile waiters go on waiting, join, withdraw and die. The order of the joins stays.
 */
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import type { ClientOptions, Holdfast } from '../../src/index.ts';
import { fairQueueKey } from '../../src/keys.ts';
import type { TestServer } from '../../src/testing/index.ts';
import { spawnChild } from '../harness/child.ts';
import { randomName } from '../harness/names.ts';
import { describeWithProcess } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';
import { join, past, type Settled, timed } from './support/arena.ts';
import { APPENDING, restartStage, stage } from './support/failover-stage.ts';

const CHILD = fileURLToPath(new URL('./children/fair-lock-waits.ts', import.meta.url));

const GRACE_MS = 6_000;

/** Waiters poll every 0.4 to 0.48 s, and count as dead after 1.6 s of silence. */
const OPTIONS: ClientOptions = {
  guard: { graceMs: GRACE_MS },
  watchdogMs: 3_000,
  commandTimeoutMs: 640,
  fairWaitMs: 1_200,
  replicas: 0,
};
const SILENT_MS = 1_600;

/** A server with all its data, and the one that is in charge after it, with a grace to begin with. */
interface Change {
  readonly before: TestServer;
  readonly after: TestServer;
  client(): Promise<Holdfast>;
  happen(): Promise<void>;
}

async function promotion(): Promise<Change> {
  const staged = await stage();
  return {
    before: staged.primary,
    after: staged.promoted,
    client: () => staged.client(OPTIONS),
    async happen() {
      await staged.whenInSync();
      await staged.failOver();
    },
  };
}

async function restart(): Promise<Change> {
  const { server, way } = await restartStage(APPENDING);
  return {
    before: server,
    after: server,
    client: () => join('Holdfast.connect', way.proxy, OPTIONS),
    happen: () => server.restart(),
  };
}

/** The waiters of one fair lock, and in which order those that did not withdraw were let in. */
class Waiters {
  readonly served: string[] = [];
  readonly #name: string;
  readonly #serving: Promise<Settled>[] = [];

  constructor(name: string) {
    this.#name = name;
  }

  /** Resolves when the waiter has its place on the server. */
  async join(client: Holdfast, title: string, server: TestServer): Promise<void> {
    const before = await this.queueOn(server);
    this.#serving.push(timed(client.getFairLock(this.#name).withLock(() => this.served.push(title))));
    await this.#whenLonger(server, before);
  }

  /** The same; what it answers makes the waiter withdraw, and resolves when its place is gone. */
  async joinToLeave(client: Holdfast, server: TestServer): Promise<(from: TestServer) => Promise<void>> {
    const before = await this.queueOn(server);
    const giveUp = new AbortController();
    const waiting = timed(client.getFairLock(this.#name).lock({ signal: giveUp.signal }));
    const owner = await this.#whenLonger(server, before);
    return async (from) => {
      giveUp.abort();
      expect((await waiting).error).toBe(giveUp.signal.reason);
      await eventually(async () => expect(await this.queueOn(from)).not.toContain(owner));
    };
  }

  async queueOn(server: TestServer): Promise<string[]> {
    return (await server.command('LRANGE', fairQueueKey(this.#name), 0, -1)) as string[];
  }

  async allServed(): Promise<string[]> {
    for (const { error } of await Promise.all(this.#serving)) expect(error).toBeUndefined();
    return this.served;
  }

  #whenLonger(server: TestServer, before: readonly string[]): Promise<string> {
    return eventually(
      async () => {
        const owner = (await this.queueOn(server)).find((waiter) => !before.includes(waiter));
        if (owner === undefined) throw new Error('Nobody has joined');
        return owner;
      },
      { withinMs: SILENT_MS },
    );
  }
}

describeWithProcess('fair waiters during the grace of the guard', () => {
  it.each([
    ['a promotion', promotion],
    ['a restart', restart],
  ])(
    'after %s keep their order while three of them withdraw; only the dead head loses its place',
    async (_, how) => {
      const change = await how();
      const { before, after } = change;
      const name = randomName('grace');
      const [one, other] = [await change.client(), await change.client()];
      const hold = await one.getFairLock(name).lock();
      const waiters = new Waiters(name);
      const dead = spawnChild(CHILD, { args: [before.url, name, '1', JSON.stringify(OPTIONS)] });
      await eventually(async () => expect(await waiters.queueOn(before)).toHaveLength(1), {
        withinMs: 15_000,
      });
      for (const title of ['W1', 'W2']) await waiters.join(other, title, before);
      const withdrawals = [
        await waiters.joinToLeave(one, before),
        await waiters.joinToLeave(other, before),
        await waiters.joinToLeave(other, before),
      ];
      for (const title of ['W3', 'W4']) await waiters.join(one, title, before);
      const [, ...living] = await waiters.queueOn(before);
      dead.kill('SIGKILL');
      await dead.exited;
      await change.happen();
      const from = performance.now();
      expect(await hold.unlock()).toBe(true);

      for (const [index, withdraw] of withdrawals.entries()) {
        await past(from + (1 + 0.6 * index) * SILENT_MS);
        await withdraw(after);
      }
      expect(await waiters.queueOn(after)).toEqual([living[0], living[1], living[5], living[6]]);
      expect(waiters.served).toEqual([]);
      expect(await waiters.allServed()).toEqual(['W1', 'W2', 'W3', 'W4']);
    },
  );

  it('join in order, and are served in that order', async () => {
    const change = await promotion();
    const { before, after } = change;
    const name = randomName('grace');
    const [one, other] = [await change.client(), await change.client()];
    const hold = await one.getFairLock(name).lock();
    const waiters = new Waiters(name);
    await waiters.join(one, 'W1', before);
    await change.happen();
    for (const title of ['W2', 'W3']) await waiters.join(other, title, after);
    const withdraw = await waiters.joinToLeave(one, after);
    await waiters.join(one, 'W4', after);
    await withdraw(after);
    expect(await hold.unlock()).toBe(true);
    expect(await waiters.queueOn(after)).toHaveLength(4);
    expect(await waiters.allServed()).toEqual(['W1', 'W2', 'W3', 'W4']);
  });
});
