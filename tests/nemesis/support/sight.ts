/** What a test sees of a stage while a fault lasts: through its links, and beside them. */
import { onTestFinished } from 'vitest';
import type { Scene, Stage } from '../../../chaos/fault.ts';
import { type FaultProxy, RawConnection, RawError, type TestServer } from '../../../src/testing/index.ts';
import { hasSlot, viewOf } from '../../harness/cluster-view.ts';
import { randomName } from '../../harness/names.ts';
import { slotOf } from '../../harness/slot.ts';
import { eventually } from '../../harness/wait.ts';

/** Starts and stops the fault in question, when the observer is ready. */
export interface Sight {
  readonly scene: Scene;
  readonly stage: Stage;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Sees the effect of a fault, and fails when there is none. */
export type Observation = (sight: Sight) => Promise<unknown>;

interface Address {
  readonly host: string;
  readonly port: number;
}

/** A connection of the test's own, closed when the test ends. */
export async function open({ host, port }: Address): Promise<RawConnection> {
  const connection = await RawConnection.connect(host, port);
  onTestFinished(() => connection.close());
  return connection;
}

/** A primary, the way to it, and names that belong there. */
export interface Home {
  readonly server: TestServer;
  /** The link that workers reach it by, or where there is none the server itself. */
  readonly door: FaultProxy | TestServer;
  name(): string;
}

/** In a Cluster a name belongs to one of the primaries. */
async function namerOf({ name }: Stage, server: TestServer): Promise<() => string> {
  if (name !== 'cluster') return randomName;
  const id = String(await server.command('CLUSTER', 'MYID'));
  const own = ((await viewOf(server)) ?? []).find((seen) => seen.id === id);
  return () => {
    for (;;) {
      const tried = randomName();
      if (own !== undefined && hasSlot(own, slotOf(tried))) return tried;
    }
  };
}

export async function homesOn(stage: Stage): Promise<Home[]> {
  const { links, servers } = stage;
  return Promise.all(
    (await stage.primaries()).map(async (server) => {
      const link = links.length === servers.length ? links[servers.indexOf(server)] : links[0];
      return { server, door: link ?? server, name: await namerOf(stage, server) };
    }),
  );
}

const SILENT_AFTER_MS = 400;

/** Whether a promise is still open after a while. */
export async function isSilent(promise: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(true), SILENT_AFTER_MS);
  });
  const answered = promise.then(
    () => false,
    () => false,
  );
  return Promise.race([answered, silence]).finally(() => clearTimeout(timer));
}

/** Resolves when what is asked of one of them has the outcome looked for. */
export async function oneOf<T>(
  things: readonly T[],
  hasIt: (thing: T) => Promise<boolean>,
  withinMs = 5_000,
): Promise<T> {
  return eventually(
    async () => {
      for (const thing of things) if (await hasIt(thing)) return thing;
      throw new Error('None of them shows it');
    },
    { withinMs, everyMs: 20 },
  );
}

/** Whether a command is refused with this error. */
export async function isRefused(
  connection: Pick<RawConnection, 'command'>,
  error: RegExp,
  ...command: [string, ...(string | number)[]]
): Promise<boolean> {
  try {
    await connection.command(...command);
    return false;
  } catch (refusal) {
    if (!(refusal instanceof RawError)) throw refusal;
    return error.test(refusal.message);
  }
}

export async function tookMs(act: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await act();
  return performance.now() - from;
}
