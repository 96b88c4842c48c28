/**
 * A primary with two replicas. Workers reach the primary by one address, which the nemesis leads to another server when
 * it promotes that one; what each server replicates reaches it through a fault proxy.
 */
import { type FaultProxy, startServer, type TestServer } from '../../src/testing/index.ts';
import { type Address, startAddress } from '../../tests/harness/address.ts';
import { closeAll, orClose, startTogether } from '../../tests/harness/start-together.ts';
import type { Stage, StageTarget } from '../fault.ts';
import type { StageOptions } from './one.ts';
import { obeys, repair } from './repair.ts';
import { offsetOf, whenInSync } from './replication.ts';
import { isUp } from './restart.ts';
import { healed } from './within.ts';

const REPLICAS = 2;
const QUICK_SYNC = ['--repl-diskless-sync', 'yes', '--repl-diskless-sync-delay', '0'];

/** A server, and the way by which the writes of the primary reach it while it is a replica. */
export interface Member {
  readonly server: TestServer;
  readonly link: Address;
  close(): Promise<void>;
}

async function startMember({ binary }: StageOptions): Promise<Member> {
  const server = await startServer({ args: QUICK_SYNC, ...(binary !== undefined && { binary }) });
  const link = await orClose(server, () => startAddress(server));
  const close = async () => {
    await server.close();
    await link.proxy.close();
  };
  return { server, link, close };
}

export class ReplicasStage implements Stage {
  readonly name = 'replicas';
  readonly target: StageTarget;
  readonly members: readonly Member[];
  readonly links: readonly [FaultProxy];
  readonly #address: Address;
  /** Where the link of each server leads. */
  readonly #followed = new Map<Member, Member>();
  #primary: Member;
  #ledTo: Member;
  #hasStrays = false;

  constructor(members: readonly Member[], primary: Member, address: Address) {
    const { proxy } = address;
    this.members = members;
    this.links = [proxy];
    this.target = { kind: 'server', host: proxy.host, port: proxy.port };
    this.#address = address;
    this.#primary = primary;
    this.#ledTo = primary;
  }

  get servers(): readonly TestServer[] {
    return this.members.map(({ server }) => server);
  }

  get primary(): Member {
    return this.#primary;
  }

  get replicas(): readonly Member[] {
    return this.members.filter((member) => member !== this.#primary);
  }

  async primaries(): Promise<readonly TestServer[]> {
    return [this.#primary.server];
  }

  /** Makes a server the primary, and the other replicas follow it. The old primary is told nothing. */
  async promote(member: Member): Promise<void> {
    const others = this.replicas.filter((other) => other !== member);
    if (!(await obeys(member.server, 'REPLICAOF', 'NO', 'ONE'))) {
      throw new Error(`${member.server.url} does not become the primary`);
    }
    this.#primary = member;
    await Promise.all(others.map((other) => this.follow(other)));
  }

  /** Makes a server a replica of the primary. */
  async follow(member: Member): Promise<void> {
    const { server, link } = member;
    if (this.#followed.get(member) !== this.#primary) link.lead(this.#primary.server);
    this.#followed.set(member, this.#primary);
    await obeys(server, 'REPLICAOF', link.proxy.host, link.proxy.port);
  }

  /** Leads workers to the primary: new connections from now on, or all of them at once. */
  lead(whom: 'new' | 'all'): void {
    this.#ledTo = this.#primary;
    this.#hasStrays = whom === 'new';
    if (whom === 'new') this.#address.leadNewTo(this.#primary.server);
    else this.#address.lead(this.#primary.server);
  }

  whenInSync(): Promise<void> {
    return whenInSync(
      this.#primary.server,
      this.replicas.map(({ server }) => server),
    );
  }

  heal(): Promise<void> {
    return healed(this.name, async (step) => {
      await Promise.all(this.servers.map((server) => server.resume()));
      if (!isUp(this.#primary.server)) this.#primary = await this.#mostComplete();
      await Promise.all(this.servers.map((server) => repair(server)));
      await Promise.all(
        [...this.links, ...this.members.map(({ link }) => link.proxy)].map((link) => link.heal()),
      );
      step('its replicas to follow');
      await obeys(this.#primary.server, 'REPLICAOF', 'NO', 'ONE');
      await Promise.all(this.replicas.map((replica) => this.follow(replica)));
      await this.whenInSync();
      // Connections that were left with another server would stay there.
      if (this.#hasStrays || this.#ledTo !== this.#primary) this.lead('all');
    });
  }

  async close(): Promise<void> {
    await this.#address.proxy.close();
    await closeAll(this.members);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** The server that runs and has the most of what was written; the primary itself when none runs. */
  async #mostComplete(): Promise<Member> {
    let [best, most] = [this.#primary, -1];
    for (const member of this.replicas.filter(({ server }) => isUp(server))) {
      const offset = await offsetOf(member.server);
      if (offset > most) [best, most] = [member, offset];
    }
    return best;
  }
}

export async function startReplicasStage(options: StageOptions = {}): Promise<ReplicasStage> {
  const members = await startTogether(Array.from({ length: 1 + REPLICAS }, () => startMember(options)));
  return orClose({ close: () => closeAll(members) }, async () => {
    const [primary] = members as [Member];
    const address = await startAddress(primary.server);
    const stage = new ReplicasStage(members, primary, address);
    await orClose(address.proxy, async () => {
      await Promise.all(stage.replicas.map((replica) => stage.follow(replica)));
      await stage.whenInSync();
    });
    return stage;
  });
}
