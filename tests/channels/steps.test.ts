/** When subscribers are told of a call, and in which context. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { describe, expect, it, onTestFinished } from 'vitest';
import { randomName } from '../harness/names.ts';
import { connect, hear } from './support/hearing.ts';

describe('subscribers', () => {
  it('see the context of the caller at the start of a call and of a hold', async () => {
    const client = await connect();
    const requests = new AsyncLocalStorage<string>();
    const seen: unknown[] = [];
    for (const channel of ['acquire', 'hold', 'release']) {
      const name = `tracing:holdfast:${channel}:start`;
      const note = (message: unknown) => {
        if ((message as { clientId: string }).clientId === client.id)
          seen.push([channel, requests.getStore()]);
      };
      subscribe(name, note);
      onTestFinished(() => {
        unsubscribe(name, note);
      });
    }
    await requests.run('A', () => client.getLock(randomName()).lock());
    await requests.run('B', () => client.getLock(randomName()).withLock(() => 1));
    expect(seen).toEqual([
      ['acquire', 'A'],
      ['hold', 'A'],
      ['acquire', 'B'],
      ['hold', 'B'],
      ['release', 'B'],
    ]);
  });

  it('are told of a call before it returns its promise', async () => {
    const client = await connect();
    const heard = hear(client);
    const lock = client.getLock(randomName());
    const calls = [
      () => lock.lock(),
      () => lock.tryLock(),
      () => lock.withLock(() => 1, { waitMs: 10 }),
      () => client.getMultiLock(lock).lock({ signal: AbortSignal.abort() }),
      () => client.getSemaphore(randomName(), { permits: 1 }).acquire(),
      () => client.getPermitExpirableSemaphore(randomName(), { permits: 1 }).acquire(),
      () => client.getCountDownLatch(randomName()).await(),
    ];
    for (const call of calls) {
      heard.all.length = 0;
      const called = call().catch(() => undefined);
      expect(heard.steps().slice(0, 1)).toEqual(['acquire start']);
      expect(heard.steps()).toContain('acquire end');
      await called;
    }
  });
});
