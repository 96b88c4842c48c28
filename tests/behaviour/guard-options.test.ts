/** A guard that one lock is given for itself: the same must hold of it as of that of a whole client. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { type ClientOptions, Holdfast, OptionError } from '../../src/index.ts';
import { sharedServer } from '../harness/servers.ts';

async function connect(options: ClientOptions): Promise<Holdfast> {
  const client = await Holdfast.connect(sharedServer().url, options);
  onTestFinished(() => client.close());
  return client;
}

describe('a lock with the guard, on a client without it', () => {
  it('is refused if the watchdog confirms holds too seldom for the grace', async () => {
    const seldom = await connect({ watchdogMs: 30_001 });
    for (const get of [
      () => seldom.getLock('a', { guard: true }),
      () => seldom.getFairLock('a', { guard: true }),
      () => seldom.getFencedLock('a', { guard: true }),
      () => seldom.getSimpleLock('a', { guard: true }),
      () => seldom.getReadWriteLock('a', { guard: true }),
    ]) {
      expect(get).toThrow(OptionError);
      expect(get).toThrow(/watchdogMs \(30001\) must not be longer than the grace/);
    }
    expect(seldom.getLock('a').name).toBe('a');
    expect(seldom.getLock('a', { guard: false }).name).toBe('a');
  });

  it('is granted if the watchdog confirms holds often enough', async () => {
    const client = await connect({ watchdogMs: 30_000 });
    expect(client.getLock('a', { guard: true }).name).toBe('a');
  });
});
