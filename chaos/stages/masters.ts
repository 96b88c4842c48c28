/**
 * Five servers that know nothing of each other, each behind a fault proxy.
 *
 * A majority has to forget a hold before it can be granted twice, and it need not forget all at once. So the servers
 * that faults make forget are always the same two.
 */
import type { FaultProxy, TestServer } from '../../src/testing/index.ts';
import { closeAll, startTogether } from '../../tests/harness/start-together.ts';
import type { Stage, StageTarget } from '../fault.ts';
import { type ProxiedServer, type StageOptions, startProxied } from './one.ts';
import { healed } from './within.ts';

const COUNT = 5;
const MINORITY = 2;

export class MastersStage implements Stage {
  readonly name = 'masters';
  readonly target: StageTarget;
  readonly members: readonly ProxiedServer[];

  constructor(members: readonly ProxiedServer[]) {
    this.members = members;
    const servers = members.map(({ proxy: { host, port } }) => ({ host, port }));
    this.target = { kind: 'masters', servers };
  }

  get servers(): readonly TestServer[] {
    return this.members.map(({ server }) => server);
  }

  get links(): readonly FaultProxy[] {
    return this.members.map(({ proxy }) => proxy);
  }

  /** The only servers that may forget what they granted. */
  get forgetful(): readonly ProxiedServer[] {
    return this.members.slice(0, MINORITY);
  }

  async primaries(): Promise<readonly TestServer[]> {
    return this.servers;
  }

  heal(): Promise<void> {
    return healed(this.name, async () => {
      await Promise.all(this.members.map((member) => member.heal()));
    });
  }

  close(): Promise<void> {
    return closeAll(this.members);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

export async function startMasters(options: StageOptions = {}): Promise<MastersStage> {
  const starts = Array.from({ length: COUNT }, () => startProxied(options));
  return new MastersStage(await startTogether(starts));
}
