/**
 * The multi lock: all of its members or none, as one hold.
 *
 * The members are taken in an order that depends on the locks alone, by name, and on the server where one name
 * stands for locks on several. Two who name the same locks in opposite orders take them in the same order and
 * cannot deadlock. A member that is lost while others are waited for makes it start over.
 */

import { OptionError } from '../errors.ts';
import type { ProtocolLock } from '../locks/protocol-lock.ts';
import { classify } from '../outcome.ts';
import { Backoff } from '../runtime/backoff.ts';
import { retry } from '../runtime/retry.ts';
import { WaitBudget } from '../runtime/wait-budget.ts';
import { inspectIdentity } from '../scripts/generated.ts';
import { GroupHold } from './group-hold.ts';
import { checkMembers, compare, GroupLock, type Quest } from './group-lock.ts';
import { OrderedAcquire } from './ordered-acquire.ts';

/** Where there is no common order, what is held is given back after 0.2 to 0.6 s, and it begins anew. */
const UNCERTAIN_MS = 200;

/**
 * The order of namesakes is that of their servers, and another one once a server was replaced: who began before
 * that and who began after it would wait for each other for ever.
 */
const CHANGEABLE_MS = 3_000;

interface Order {
  readonly members: readonly ProtocolLock[];
  /** How long one member may be waited for while others are held. */
  readonly patienceMs: number;
}

function refuseTwice(members: readonly ProtocolLock[]): void {
  const seen = new Set<string>();
  for (const { name, context, protocol } of members) {
    const place = `${context.clientId} ${protocol.key}`;
    if (seen.has(place)) throw new OptionError(`"${name}" is named twice`);
    seen.add(place);
  }
}

/** Those whose name does not tell them apart. */
function namesakesOf(members: readonly ProtocolLock[]): ProtocolLock[] {
  const named = new Map<string, number>();
  for (const { protocol } of members) named.set(protocol.key, (named.get(protocol.key) ?? 0) + 1);
  return members.filter(({ protocol }) => (named.get(protocol.key) as number) > 1);
}

/** The run id of the member's server; empty where it does not tell. */
async function serverOf({ context, name, protocol }: ProtocolLock): Promise<string> {
  const { driver, clock, commandTimeoutMs } = context.runtime;
  context.runtime.assertOpen();
  const ask = () => inspectIdentity.run(driver, { lock: protocol.key }, {});
  return (await retry(clock, commandTimeoutMs, `ask for the server of "${name}"`, ask)).runId;
}

/** Up to three times as long, so that two who wait for each other do not give up at the same moment. */
function spread(ms: number): number {
  return ms * (1 + 2 * Math.random());
}

/**
 * A single lock that has been told to wait waits out an outage; so does this one, and the loss of what it had
 * collected. A lease that is too short for collecting does not grow by trying again.
 */
function isWorthAnother(
  orderedAcquire: OrderedAcquire | undefined,
  error: unknown,
  { wish, waitMs }: Quest,
  wasBusy: boolean,
): boolean {
  const lost = orderedAcquire?.lost;
  if (lost !== undefined) return lost.reason !== 'expired' || wish.leaseMs === undefined;
  if (classify(error) === 'refused') return false;
  return waitMs < Number.POSITIVE_INFINITY || wasBusy;
}

export class MultiLock extends GroupLock {
  readonly #namesakes: readonly ProtocolLock[];

  constructor(...locks: readonly unknown[]) {
    const members = checkMembers(locks).sort((a, b) => compare(a.protocol.key, b.protocol.key));
    refuseTwice(members);
    super(members.map(({ name }) => name).join(' + '), members, members.length);
    this.#namesakes = namesakesOf(members);
  }

  protected async collect(quest: Quest): Promise<GroupHold | null> {
    const { signal, wish } = quest;
    const { clock } = this.runtime;
    const endsAt = clock.now() + quest.waitMs;
    const backoff = new Backoff(20, 1_000);
    let wasBusy = false;
    for (;;) {
      signal?.throwIfAborted();
      let orderedAcquire: OrderedAcquire | undefined;
      try {
        const { members, patienceMs } = await this.#order(signal);
        orderedAcquire = new OrderedAcquire(clock, members, quest);
        const holds = await orderedAcquire.run(endsAt, patienceMs);
        if (holds !== null) return new GroupHold(this.runtime, this.name, holds, this.needed, wish.maxHoldMs);
        if (clock.now() >= endsAt) return null;
      } catch (error) {
        signal?.throwIfAborted();
        wasBusy ||= orderedAcquire?.wasBusy ?? false;
        if (clock.now() >= endsAt || !isWorthAnother(orderedAcquire, error, quest, wasBusy)) throw error;
      }
      using waitBudget = new WaitBudget(clock, Math.min(backoff.next(), endsAt - clock.now()), [signal]);
      await waitBudget.sleep();
    }
  }

  async #order(signal: AbortSignal | undefined): Promise<Order> {
    if (this.#namesakes.length === 0) return { members: this.members, patienceMs: Number.POSITIVE_INFINITY };
    using waitBudget = new WaitBudget(this.runtime.clock, Number.POSITIVE_INFINITY, [signal]);
    const asked = Promise.all(
      this.#namesakes.map(async (member) => [member, await serverOf(member)] as const),
    );
    const servers = new Map((await waitBudget.wait(asked)) as [ProtocolLock, string][]);
    const serverIdOf = (member: ProtocolLock) => servers.get(member) ?? '';
    const members = [...this.members].sort(
      (a, b) =>
        compare(a.protocol.key, b.protocol.key) ||
        compare(serverIdOf(a), serverIdOf(b)) ||
        compare(a.protocol.identity, b.protocol.identity),
    );
    const places = this.#namesakes.map((member) => `${member.protocol.key} ${serverIdOf(member)}`);
    const isCertain = new Set(places).size === places.length && ![...servers.values()].includes('');
    return { members, patienceMs: spread(isCertain ? CHANGEABLE_MS : UNCERTAIN_MS) };
  }
}
