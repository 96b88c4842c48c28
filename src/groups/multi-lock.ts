/**
 * The multi lock: all of its members or none, as one hold.
 *
 * The order in which the members are taken depends on the locks alone: by key, then by server for equal keys.
 * Two callers that name the same locks in opposite orders take them in the same order and cannot deadlock.
 * When a member is lost while the caller waits for others, the acquisition starts over.
 */

import { OptionError } from '../errors.ts';
import type { ProtocolLock } from '../locks/protocol-lock.ts';
import { classify } from '../outcome.ts';
import { Backoff } from '../runtime/backoff.ts';
import { retry } from '../runtime/retry.ts';
import { WaitBudget } from '../runtime/wait-budget.ts';
import { inspectIdentity } from '../scripts/generated.ts';
import { GroupHold } from './group-hold.ts';
import { checkMembers, compare, GroupLock, type GroupRequest } from './group-lock.ts';
import { OrderedAcquire } from './ordered-acquire.ts';

/** Without a common order, the caller releases its members after 0.2 to 0.6 s and starts over. */
const UNCERTAIN_MS = 200;

/**
 * Locks with equal keys are in the order of their servers, which changes when a server is replaced: a caller that
 * began before that and one that began after it would wait for each other forever.
 */
const CHANGEABLE_MS = 3_000;

interface Order {
  readonly members: readonly ProtocolLock[];
  /** How long to wait for one member while holding others. */
  readonly patienceMs: number;
}

function refuseTwice(members: readonly ProtocolLock[]): void {
  const seen = new Set<string>();
  for (const { name, context, protocol } of members) {
    const place = `${context.clientId} ${protocol.key}`;
    if (seen.has(place)) throw new OptionError(`Two members of a multi lock are the same lock: "${name}"`);
    seen.add(place);
  }
}

/** The members that share their key with another member. */
function namesakesOf(members: readonly ProtocolLock[]): ProtocolLock[] {
  const named = new Map<string, number>();
  for (const { protocol } of members) named.set(protocol.key, (named.get(protocol.key) ?? 0) + 1);
  return members.filter(({ protocol }) => (named.get(protocol.key) as number) > 1);
}

/** The run id of the member's server; empty where the server does not report it. */
async function serverOf({ context, name, protocol }: ProtocolLock): Promise<string> {
  const { runtime } = context;
  runtime.assertOpen();
  const ask = () => inspectIdentity.run(runtime.driver, { lock: protocol.key }, {});
  return (await retry(runtime, `identify the server of "${name}"`, ask)).runId;
}

/** Up to three times as long, so that two callers that wait for each other do not give up at the same moment. */
function spread(ms: number): number {
  return ms * (1 + 2 * Math.random());
}

/**
 * A caller that waits outlasts an outage, as with a single lock, and also the loss of members it held. A retry
 * does not help when the lease is too short to take all members.
 */
function isWorthAnother(
  orderedAcquire: OrderedAcquire | undefined,
  error: unknown,
  { holdOptions, waitMs }: GroupRequest,
  wasBusy: boolean,
): boolean {
  const lost = orderedAcquire?.lost;
  if (lost !== undefined) return lost.reason !== 'expired' || holdOptions.leaseMs === undefined;
  if (classify(error) === 'refused') return false;
  return waitMs < Number.POSITIVE_INFINITY || wasBusy;
}

export class MultiLock extends GroupLock {
  readonly kind = 'multi';
  readonly #namesakes: readonly ProtocolLock[];

  constructor(...locks: readonly unknown[]) {
    const members = checkMembers(locks).sort((a, b) => compare(a.protocol.key, b.protocol.key));
    refuseTwice(members);
    super(members.map(({ name }) => name).join(' + '), members, members.length);
    this.#namesakes = namesakesOf(members);
  }

  protected async collect(request: GroupRequest): Promise<GroupHold | null> {
    const { signal, holdOptions, trace } = request;
    const { clock } = this.runtime;
    const endsAt = clock.now() + request.waitMs;
    const backoff = new Backoff(20, 1_000);
    let wasBusy = false;
    for (;;) {
      signal?.throwIfAborted();
      let orderedAcquire: OrderedAcquire | undefined;
      try {
        const { members, patienceMs } = await this.#order(signal);
        orderedAcquire = new OrderedAcquire(clock, members, request);
        trace?.attempted();
        const holds = await orderedAcquire.run(endsAt, patienceMs);
        if (holds !== null) return new GroupHold(this.runtime, this, holds, holdOptions.maxHoldMs);
        if (clock.now() >= endsAt) return null;
      } catch (error) {
        signal?.throwIfAborted();
        wasBusy ||= orderedAcquire?.wasBusy ?? false;
        if (clock.now() >= endsAt || !isWorthAnother(orderedAcquire, error, request, wasBusy)) throw error;
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
