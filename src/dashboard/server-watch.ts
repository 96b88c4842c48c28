/**
 * The state of the servers, asked for again and again: health, topology, replicas, problems with their remedies.
 */
import type { Holdfast } from '../client.ts';
import type { Health } from '../preflight/health.ts';
import { remedyOf } from '../preflight/remedies.ts';
import type { ServerHealth } from './protocol.ts';

/** While somebody watches. */
const EVERY_MS = 5_000;

async function serverOf(client: Holdfast): Promise<string> {
  try {
    const { server, version, primaries } = await client.capabilities();
    const named = server === null ? 'unknown' : `${server} ${version ?? ''}`.trim();
    return primaries > 1 ? `${named}, ${primaries} primaries` : named;
  } catch {
    // Health says why.
    return 'unknown';
  }
}

function healthOf(
  client: Holdfast,
  { status, latencyMs, problems, nodes }: Health,
  server: string,
): ServerHealth {
  const { driver, preflight } = client.wiring;
  const facts = preflight.facts();
  return {
    at: Date.now(),
    status,
    latencyMs,
    topology: driver.topology,
    server,
    nodes: nodes.map(({ node, latencyMs: tripMs }) => ({
      node,
      latencyMs: tripMs,
      replicas: facts.find((one) => one.node === node)?.replicaStates ?? [],
    })),
    problems: problems.map(({ code, message }) => ({ code, message, remedy: remedyOf(code) })),
  };
}

export class ServerWatch {
  readonly #client: Holdfast;
  readonly #onHealth: (health: ServerHealth) => void;
  #timer: NodeJS.Timeout | undefined;
  /** Another one for every time that somebody begins to watch; undefined while nobody does. */
  #watching: object | undefined;
  #last: ServerHealth | null = null;

  constructor(client: Holdfast, onHealth: (health: ServerHealth) => void) {
    this.#client = client;
    this.#onHealth = onHealth;
  }

  /** The last answer. */
  get last(): ServerHealth | null {
    return this.#last;
  }

  watch(): void {
    if (this.#watching !== undefined) return;
    this.#watching = {};
    void this.#ask(this.#watching);
  }

  unwatch(): void {
    this.#watching = undefined;
    clearTimeout(this.#timer);
  }

  async #ask(watching: object): Promise<void> {
    const health = await this.#client.health();
    const server = await serverOf(this.#client);
    if (this.#watching !== watching) return;
    this.#last = healthOf(this.#client, health, server);
    this.#onHealth(this.#last);
    this.#timer = setTimeout(() => void this.#ask(watching), EVERY_MS).unref();
  }
}
