/** One server behind a fault proxy. */

import type { TestServer } from '../../src/testing/index.ts';
import { type FaultProxy, findServerBinary, startFaultProxy, startServer } from '../../src/testing/index.ts';
import { CAN_SHIFT, startShiftableServer } from '../../tests/harness/clock-shim.ts';
import { orClose } from '../../tests/harness/start-together.ts';
import type { Stage, StageTarget } from '../fault.ts';
import { repair } from './repair.ts';
import { ServerClock } from './server-clock.ts';
import { healed } from './within.ts';

export interface StageOptions {
  /** The program of every server; without it the one on PATH. */
  readonly binary?: string;
}

/** A server whose clock can be moved where there is a compiler, behind a proxy. */
export interface ProxiedServer {
  readonly server: TestServer;
  readonly clock: ServerClock;
  readonly proxy: FaultProxy;
  heal(): Promise<void>;
  close(): Promise<void>;
}

async function startClocked({ binary }: StageOptions) {
  if (!CAN_SHIFT) {
    const server = await startServer(binary === undefined ? {} : { binary });
    return { server, clock: new ServerClock(), close: () => server.close() };
  }
  const { server, clock, close } = await startShiftableServer(binary ?? findServerBinary());
  return { server, clock: new ServerClock(clock), close };
}

export async function startProxied(options: StageOptions): Promise<ProxiedServer> {
  const started = await startClocked(options);
  const { server, clock } = started;
  const proxy = await orClose(started, () => startFaultProxy(server));
  return {
    server,
    clock,
    proxy,
    async heal() {
      await clock.reset();
      await repair(server);
      await proxy.heal();
    },
    async close() {
      await proxy.close();
      await started.close();
    },
  };
}

export class OneStage implements Stage {
  readonly name = 'one';
  readonly target: StageTarget;
  readonly servers: readonly [TestServer];
  readonly links: readonly [FaultProxy];
  readonly clock: ServerClock;
  readonly #proxied: ProxiedServer;

  constructor(proxied: ProxiedServer) {
    const { server, proxy, clock } = proxied;
    this.#proxied = proxied;
    this.servers = [server];
    this.links = [proxy];
    this.clock = clock;
    this.target = { kind: 'server', host: proxy.host, port: proxy.port };
  }

  async primaries(): Promise<readonly TestServer[]> {
    return this.servers;
  }

  heal(): Promise<void> {
    return healed(this.name, () => this.#proxied.heal());
  }

  close(): Promise<void> {
    return this.#proxied.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

export async function startOne(options: StageOptions = {}): Promise<OneStage> {
  return new OneStage(await startProxied(options));
}
