/**
 * How many clients listen on the channel of a lock that is held: those that wait for it. The server knows the waiters of
 * a fair lock by name, and of any other lock only these numbers. A client that no longer waits listens for another moment.
 */
import type { Driver } from '../../drivers/driver.ts';
import type { Description } from '../../inspect/description.ts';
import { lockChannel, readWriteChannel, semaphoreChannel } from '../../keys.ts';
import { inspectListeners } from '../../scripts/generated.ts';

/** Channels in one command. */
const AT_ONCE = 100;
/** After a refusal; somebody may permit it meanwhile. */
const ASK_AGAIN_MS = 60_000;

/** What this asks through. */
export type ListenedDriver = Pick<Driver, 'script' | 'nodeOf'>;

export interface ListenersSettings {
  readonly driver: ListenedDriver;
  /** Whether messages go to the channels of a slot; that may change. */
  readonly isSharded: () => boolean;
  /** Called once for all refusals until the server permits it. */
  readonly onRefused: (why: string) => void;
}

/** The channel on which clients wait for it; undefined while nobody has to wait, or its waiters have a queue. */
function channelOf(found: Description): string | undefined {
  switch (found.kind) {
    case 'lock':
    case 'fenced':
    case 'simple':
      return found.holders.length > 0 ? lockChannel(found.key) : undefined;
    case 'readWrite':
      return readWriteChannel(found.key);
    case 'permitSemaphore':
      return found.takenPermits > 0 ? semaphoreChannel(found.key) : undefined;
    default:
      return undefined;
  }
}

export class Listeners {
  readonly #settings: ListenersSettings;
  #isRefused = false;
  #refusedAt = 0;

  constructor(settings: ListenersSettings) {
    this.#settings = settings;
  }

  /** Whether the server does not permit it. */
  get isRefused(): boolean {
    return this.#isRefused;
  }

  /** How many listen for each key that has such a channel; for none while the server does not permit it. */
  async count(seen: readonly Description[]): Promise<ReadonlyMap<string, number>> {
    const counts = new Map<string, number>();
    if (this.#isRefused && performance.now() - this.#refusedAt < ASK_AGAIN_MS) return counts;
    const questions = [...this.#byNode(seen).values()].flatMap((asked) => inParts(asked));
    await Promise.all(questions.map((asked) => this.#ask(asked, counts)));
    return counts;
  }

  /** In a Cluster, a client listens at the server of the channel, and each server knows its own only. */
  #byNode(seen: readonly Description[]): Map<string, Asked[]> {
    const byNode = new Map<string, Asked[]>();
    for (const found of seen) {
      const channel = channelOf(found);
      if (channel === undefined) continue;
      const node = this.#settings.driver.nodeOf(channel);
      const together = byNode.get(node) ?? [];
      together.push({ key: found.key, channel });
      byNode.set(node, together);
    }
    return byNode;
  }

  async #ask(asked: readonly Asked[], counts: Map<string, number>): Promise<void> {
    const { driver, isSharded, onRefused } = this.#settings;
    const [{ key: lock = '' } = {}] = asked;
    const channels = asked.map(({ channel }) => channel);
    const count = isSharded() ? 'SHARDNUMSUB' : 'NUMSUB';
    const reply = await inspectListeners.run(driver, { lock }, { count, channels });
    if (reply.status === 'refused') {
      this.#refusedAt = performance.now();
      if (!this.#isRefused) onRefused(reply.why);
      this.#isRefused = true;
      return;
    }
    this.#isRefused = false;
    for (const [i, { key }] of asked.entries()) counts.set(key, reply.listeners[i] ?? 0);
  }
}

interface Asked {
  readonly key: string;
  readonly channel: string;
}

function inParts(asked: readonly Asked[]): (readonly Asked[])[] {
  const parts: (readonly Asked[])[] = [];
  for (let i = 0; i < asked.length; i += AT_ONCE) parts.push(asked.slice(i, i + AT_ONCE));
  return parts;
}
