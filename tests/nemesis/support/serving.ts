/** Whether a stage serves locks: taken and given back through holdfast, the way workers reach it. */

import type { Stage, StageTarget } from '../../../chaos/fault.ts';
import { type ClientOptions, Holdfast, type Lock } from '../../../src/index.ts';
import { randomName } from '../../harness/names.ts';
import { closeAll, startTogether } from '../../harness/start-together.ts';
import { eventually } from '../../harness/wait.ts';

/** A red lock waits until servers that have just started vote: a lease. */
export const LEASE_MS = 1_000;
export const OPTIONS: ClientOptions = { watchdogMs: LEASE_MS, commandTimeoutMs: 1_000 };

export interface Reached {
  readonly clients: readonly Holdfast[];
  lock(name: string): Lock;
  close(): Promise<void>;
}

function addressesOf(target: StageTarget) {
  switch (target.kind) {
    case 'server':
      return [{ host: target.host, port: target.port }];
    case 'sentinel':
      return [{ sentinels: [...target.sentinels], name: target.name }];
    case 'cluster':
      return [{ cluster: [...target.nodes] }];
    case 'masters':
      return target.servers;
  }
}

export async function reach(target: StageTarget, options: ClientOptions = OPTIONS): Promise<Reached> {
  const clients = await startTogether(
    addressesOf(target).map((address) => eventually(() => Holdfast.connect(address, options))),
  );
  for (const client of clients) client.on('warning', () => {}).on('error', () => {});
  const [first] = clients as [Holdfast, ...Holdfast[]];
  return {
    clients,
    lock: (name) =>
      target.kind === 'masters'
        ? first.getRedLock(...clients.map((client) => client.getLock(name)))
        : first.getLock(name),
    close: () => closeAll(clients),
  };
}

/** Resolves when the stage grants a lock and takes it back. */
export async function serves({ target }: Stage): Promise<void> {
  const reached = await reach(target);
  try {
    await eventually(
      async () => {
        const hold = await reached.lock(randomName('served')).tryLock();
        return (await hold?.unlock()) === true;
      },
      { withinMs: 15_000, everyMs: 50 },
    );
  } finally {
    await reached.close();
  }
}
