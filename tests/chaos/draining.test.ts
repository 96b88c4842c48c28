/** A process that is asked to end while a section runs, with time to finish it; and a server that is gone meanwhile. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, vi } from 'vitest';
import { lockChannel } from '../../src/keys.ts';
import { spawnChild } from '../harness/child.ts';
import type { TestChild } from '../harness/child-process.ts';
import { randomName } from '../harness/names.ts';
import { describeWithProcess, openShared, sharedServer } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';
import type { DrainsSettings } from './children/drains.ts';
import { aborted, arena, join, past, SLACK_MS, timed } from './support/arena.ts';
import { firstWord, WITH_CHILDREN_MS } from './support/first-word.ts';

vi.setConfig({ testTimeout: WITH_CHILDREN_MS });

const CHILD = fileURLToPath(new URL('./children/drains.ts', import.meta.url));

/** The lease is over long before the section is: only renewals keep it. */
const WORK_MS = 1_500;
const WATCHDOG_MS = 1_000;

/** Longer than any test takes. */
const LONG_MS = 60_000;

/** Its connections are given half a second to close. */
const POLITE_MS = 500;

/** Runs a command as PID 1 of a namespace of its own. */
const AS_PID_1 = ['unshare', '--pid', '--fork', '--mount-proc', '--kill-child'];
const [UNSHARE = '', ...UNSHARE_OPTIONS] = AS_PID_1;
const CAN_BE_PID_1 = spawnSync(UNSHARE, [...UNSHARE_OPTIONS, 'true']).status === 0;

/** The child of `unshare`, as this process sees it. */
function forkedBy({ pid }: TestChild): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8'));
}

type Wish = Partial<DrainsSettings> & { readonly under?: readonly string[] };

/** A child in its section. */
async function worker({ under = [], ...wish }: Wish) {
  const { url = sharedServer().url } = wish;
  const name = randomName();
  const settings: DrainsSettings = {
    url,
    name,
    drainMs: LONG_MS,
    workMs: WORK_MS,
    watchdogMs: WATCHDOG_MS,
    ...wish,
  };
  const child = spawnChild(CHILD, { args: [JSON.stringify(settings)], under });
  const { pid } = await firstWord(child, (message) => message['pid'] !== undefined);
  return { child, pid, name };
}

/** A client that waits for the lock by now, and when it gets in. */
async function rivalOf(name: string) {
  const inside = timed((await join('Holdfast.connect', sharedServer())).getLock(name).lock());
  const raw = await openShared();
  await eventually(async () => {
    expect(await raw.command('PUBSUB', 'NUMSUB', lockChannel(name))).toEqual([lockChannel(name), 1]);
  });
  return { inside };
}

function wallMsOf(child: TestChild, word: 'left' | 'lost'): number {
  return Number(child.messages.find((message) => message[word] !== undefined)?.['atWallMs']);
}

describe('a signal with closeOnSignals: { drainMs }', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    '%s: the section ends first, then the lock is free, then the process ends by the signal',
    async (signal) => {
      const { child, name } = await worker({});
      const { inside } = await rivalOf(name);
      child.kill(signal);
      expect(await child.exited).toEqual({ code: null, signal });
      expect(child.messages).toContainEqual({ left: true, atWallMs: expect.any(Number) });
      expect(wallMsOf(child, 'lost')).toBeNaN();
      const { atWallMs } = await inside;
      expect(atWallMs).toBeGreaterThanOrEqual(wallMsOf(child, 'left'));
    },
  );

  it('that is shorter than the section: its signal aborts first, then the lock is free', async () => {
    const { child, name } = await worker({ drainMs: 400, workMs: LONG_MS });
    const { inside } = await rivalOf(name);
    child.kill('SIGTERM');
    expect(await child.exited).toEqual({ code: null, signal: 'SIGTERM' });
    expect(child.messages).toContainEqual({ lost: 'closed', atWallMs: expect.any(Number) });
    expect(wallMsOf(child, 'left')).toBeNaN();
    const { atWallMs } = await inside;
    expect(atWallMs).toBeGreaterThanOrEqual(wallMsOf(child, 'lost'));
  });

  it.each([
    ['SIGTERM', 'SIGTERM'],
    ['SIGTERM', 'SIGINT'],
  ] as const)('%s, and then %s: the second ends the drain at once', async (first, second) => {
    const { child, name } = await worker({ workMs: LONG_MS });
    const { inside } = await rivalOf(name);
    child.kill(first);
    await child.next(({ asked }) => asked === true);
    child.kill(second);
    expect(await child.exited).toEqual({ code: null, signal: first });
    expect(child.messages).toContainEqual({ lost: 'closed', atWallMs: expect.any(Number) });
    expect((await inside).atWallMs).toBeGreaterThanOrEqual(wallMsOf(child, 'lost'));
  });

  it.each(['on', 'once'] as const)(
    'beside a handler that listens by process.%s: the section ends, and that handler ends the process',
    async (own) => {
      const { child, name } = await worker({ own });
      const { inside } = await rivalOf(name);
      child.kill('SIGTERM');
      expect(await child.exited).toEqual({ code: 7, signal: null });
      expect((await inside).atWallMs).toBeGreaterThanOrEqual(wallMsOf(child, 'left'));
    },
  );

  describe.skipIf(!CAN_BE_PID_1)(`to PID 1${CAN_BE_PID_1 ? '' : ' [needs root and unshare]'}`, () => {
    it.each([
      ['without a handler of its own: the section ends, and the process with 143', {}, 143],
      ['with a handler of its own: the section ends, and that handler ends the process', { own: 'on' }, 7],
    ] as const)('%s', async (_, wish, code) => {
      const { child, pid, name } = await worker({ ...wish, under: AS_PID_1 });
      expect(pid).toBe(1);
      const { inside } = await rivalOf(name);
      process.kill(forkedBy(child), 'SIGTERM');
      expect(await child.exited).toEqual({ code, signal: null });
      expect((await inside).atWallMs).toBeGreaterThanOrEqual(wallMsOf(child, 'left'));
    });
  });
});

describeWithProcess('a drain while the server is gone', () => {
  it('lets the process end within the drain and one command time-out', async () => {
    const { server } = await arena();
    const [drainMs, commandTimeoutMs] = [1_000, 700];
    const { child } = await worker({
      url: server.url,
      drainMs,
      commandTimeoutMs,
      workMs: LONG_MS,
      watchdogMs: LONG_MS,
    });
    await server.pause();
    const { tookMs, value } = await timed(() => {
      child.kill('SIGTERM');
      return child.exited;
    });
    expect(value).toEqual({ code: null, signal: 'SIGTERM' });
    expect(tookMs).toBeGreaterThan(drainMs);
    expect(tookMs).toBeLessThan(drainMs + commandTimeoutMs + POLITE_MS + SLACK_MS);
    expect(child.messages).toContainEqual({ lost: 'closed', atWallMs: expect.any(Number) });
    await server.resume();
  });

  it('gives permits back, once it returns within one command time-out', async () => {
    const { server, proxy } = await arena();
    const name = randomName();
    await server.command('SET', name, 1);
    const client = await join('Holdfast.connect', proxy, { commandTimeoutMs: 5_000 });
    client.on('error', () => {});
    let leave = () => {};
    const entered = new Promise<void>((resolve) => {
      void client.getSemaphore(name).withPermit(() => {
        resolve();
        return new Promise<void>((end) => {
          leave = end;
        });
      });
    });
    await entered;
    const closing = client.close({ drainMs: LONG_MS });
    await proxy.refuse();
    leave();
    // Long enough for connections that nothing waits for to be closed.
    await past(performance.now() + 2 * POLITE_MS);
    expect(await server.command('GET', name)).toBe('0');
    await proxy.heal();
    await closing;
    expect(await server.command('GET', name)).toBe('1');
  });

  it('ends when the hold is lost because no renewal is answered', async () => {
    const { proxy } = await arena();
    const commandTimeoutMs = 300;
    const client = await join('Holdfast.connect', proxy, { watchdogMs: WATCHDOG_MS, commandTimeoutMs });
    client.on('error', () => {});
    const hold = await client.getLock(randomName()).lock();
    const lost = aborted(hold.signal);
    proxy.blackhole();
    const { tookMs } = await timed(client.close({ drainMs: LONG_MS }));
    expect((await lost).value).toMatchObject({ reason: 'unreachable' });
    expect(tookMs).toBeLessThan(WATCHDOG_MS + commandTimeoutMs + POLITE_MS + SLACK_MS);
  });

  it('settles within the drain and one command time-out though a release gets no answer', async () => {
    const { proxy } = await arena();
    const [drainMs, commandTimeoutMs] = [600, 500];
    const client = await join('Holdfast.connect', proxy, { commandTimeoutMs });
    client.on('error', () => {});
    const [released, kept] = await Promise.all([1, 2].map(() => client.getLock(randomName()).lock()));
    const closing = timed(() => client.close({ drainMs }));
    proxy.blackhole();
    const unlocking = timed(released?.unlock() ?? Promise.reject(new Error('not held')));
    const { tookMs } = await closing;
    expect(tookMs).toBeGreaterThan(drainMs - 10);
    expect(tookMs).toBeLessThan(drainMs + commandTimeoutMs + POLITE_MS + SLACK_MS);
    expect((await unlocking).error).toMatchObject({ code: 'ERR_OUTCOME_UNKNOWN' });
    expect(kept?.signal.reason).toMatchObject({ reason: 'closed' });
  });
});
