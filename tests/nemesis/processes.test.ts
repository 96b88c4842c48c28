/** Faults of worker processes, struck at real ones that hold a lock: each is seen by the worker, or at its end. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, inject, it, onTestFinished, vi } from 'vitest';
import type { Fault, Victim } from '../../chaos/fault.ts';
import { CLIENT_CLOCK_FAULTS } from '../../chaos/faults/client-clocks.ts';
import { PROCESS_FAULTS } from '../../chaos/faults/processes.ts';
import { type OneStage, startOne } from '../../chaos/stages/one.ts';
import { spawnChild } from '../harness/child.ts';
import type { TestChild } from '../harness/child-process.ts';
import { CAN_SHIFT, movableClock, NEEDS_GCC } from '../harness/clock-shim.ts';
import { randomName } from '../harness/names.ts';
import { describeWithProcess } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';
import { LEASE_MS } from './support/serving.ts';
import { sceneOn } from './support/strike.ts';

vi.setConfig({ testTimeout: 60_000 });

const SCRIPT = fileURLToPath(new URL('./children/works.ts', import.meta.url));

interface Worker {
  readonly name: string;
  readonly child: TestChild;
  readonly victim: Victim;
}

/** What the runner does for the nemesis, for one worker. */
function victimOf(child: TestChild, clock: Victim['clock']): Victim {
  const ended = async () => {
    await child.exited;
  };
  return {
    proc: 'worker',
    pid: child.pid,
    kill() {
      child.kill('SIGKILL');
      return ended();
    },
    end(how) {
      if (how === 'sigterm') child.kill('SIGTERM');
      else child.send({ order: how });
      return ended();
    },
    stop: () => child.kill('SIGSTOP'),
    resume: () => child.kill('SIGCONT'),
    block: (ms) => child.send({ order: 'block', ms }),
    clock,
  };
}

describeWithProcess('a fault of a worker', () => {
  let stage: OneStage;

  beforeAll(async () => {
    const binary = inject('serverBinary');
    stage = await startOne(binary === null ? {} : { binary });
  });

  afterAll(() => stage?.close());

  async function worker(): Promise<Worker> {
    const [link] = stage.links;
    const name = randomName('worker');
    const settings = { host: link.host, port: link.port, name, watchdogMs: LEASE_MS };
    const clock = CAN_SHIFT ? movableClock() : undefined;
    onTestFinished(() => clock?.close());
    const child = spawnChild(SCRIPT, { args: [JSON.stringify(settings)], env: { ...clock?.env } });
    await child.next(({ held }) => held !== undefined);
    return { name, child, victim: victimOf(child, clock) };
  }

  async function struck(name: string, see: (worker: Worker, fault: () => Promise<void>) => Promise<unknown>) {
    const all = [...PROCESS_FAULTS, ...CLIENT_CLOCK_FAULTS];
    const fault = all.find((one) => one.name === name) as Fault;
    const started = await worker();
    const scene = sceneOn(stage, [started.victim]);
    await see(started, () => fault.start(scene));
    await fault.stop(scene);
    return started;
  }

  const keyOf = (name: string) => stage.servers[0].command('EXISTS', name);
  const lost = ({ child }: Worker) => child.next((message) => message['lost'] !== undefined);
  const isStopped = ({ pid }: Victim) => /^State:\s+T/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));

  it('worker-killed: the worker is gone, and its lock is still held', async () => {
    await struck('worker-killed', async ({ child, name }, start) => {
      await start();
      expect(await child.exited).toEqual({ code: null, signal: 'SIGKILL' });
      expect(await keyOf(name)).toBe(1);
    });
  });

  it('worker-stopped: the worker stands still past its lease, and notices when it continues', async () => {
    const started = await struck('worker-stopped', async ({ victim, name }, start) => {
      await start();
      await eventually(() => isStopped(victim));
      await eventually(async () => (await keyOf(name)) === 0);
      expect(isStopped(victim)).toBe(true);
    });
    expect(await lost(started)).toMatchObject({ lost: expect.any(String) });
  });

  it('loop-blocked-past-lease: the worker loses its lock', async () => {
    const started = await struck('loop-blocked-past-lease', (_, start) => start());
    expect(await lost(started)).toMatchObject({ lost: expect.any(String) });
  });

  it('loop-blocked-within-lease: the worker stalls, and keeps its lock', async () => {
    const { child, name } = await struck('loop-blocked-within-lease', (_, start) => start());
    await child.next(({ gapMs }) => Number(gapMs) > LEASE_MS / 2);
    expect(child.messages.filter((message) => message['lost'] !== undefined)).toEqual([]);
    expect(await keyOf(name)).toBe(1);
  });

  it('worker-terminated: the worker releases its lock before it ends', async () => {
    await struck('worker-terminated', async ({ name }, start) => {
      await start();
      expect(await keyOf(name)).toBe(0);
    });
  });

  it.each([
    ['worker-exits', 3],
    ['worker-throws', 1],
  ])('%s: the worker ends while it holds its lock', async (fault, code) => {
    await struck(fault, async ({ child, name }, start) => {
      await start();
      expect(await child.exited).toEqual({ code, signal: null });
      expect(await keyOf(name)).toBe(1);
    });
  });

  it.skipIf(!CAN_SHIFT).each([
    ['client-clock-ahead', 1],
    ['client-clock-behind', -1],
  ])(`%s: the worker sees another time of day, and keeps its lock${NEEDS_GCC}`, async (fault, sign) => {
    const { child, name } = await struck(fault, async ({ child }, start) => {
      await start();
      await child.next(({ wallMs }) => (Number(wallMs) - Date.now()) * sign > 3_500_000);
    });
    await child.next(({ wallMs }) => Math.abs(Number(wallMs) - Date.now()) < 10_000);
    expect(child.messages.filter((message) => message['lost'] !== undefined)).toEqual([]);
    expect(await keyOf(name)).toBe(1);
  });

  it.skipIf(!CAN_SHIFT)(
    `machine-suspended: more time has passed for the worker than its lease had${NEEDS_GCC}`,
    async () => {
      const started = await struck('machine-suspended', (_, start) => start());
      expect(await lost(started)).toMatchObject({ lost: expect.any(String) });
    },
  );
});
