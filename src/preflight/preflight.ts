/**
 * Looks at the servers before they are relied on, and again when they may have changed: after calls that failed,
 * as soon as one is answered, and now and then while they are used. What is found is kept, and told when it is new.
 */

import type { CancelTimer, Clock } from '../clock.ts';
import type { CallWatch } from '../drivers/deadline.ts';
import type { Connection, Driver } from '../drivers/driver.ts';
import type { Report, WarningCode } from '../events.ts';
import { classify } from '../outcome.ts';
import type { ReplicaCounts } from '../requests/replica-counts.ts';
import type { WakeChannels } from '../runtime/wake-channels.ts';
import type { Warnings } from '../telemetry/warnings.ts';
import { type Capabilities, summarize, type Wishes } from './capabilities.ts';
import { type Finding, findingsOf, type Unfitness, unfitnessOf, unfulfilled } from './findings.ts';
import { Primaries } from './primaries.ts';
import type { ServerFacts } from './server-facts.ts';

export interface PreflightSettings {
  /** With a deadline, and without this watch over its calls. */
  readonly driver: Driver;
  readonly clock: Clock;
  readonly report: Report;
  readonly warnings: Warnings;
  readonly wishes: Wishes;
  readonly replicaCounts: ReplicaCounts;
  readonly channels: WakeChannels;
  /** A key of ours in the slot of the given text. */
  keyFor(text: string): string;
  /** This server is in charge. */
  onPrimary(facts: ServerFacts): void;
}

/** Looked at no more often than this, however often calls fail. */
const PAUSE_MS = 1_000;

/** Looked at this often where no call fails: libraries can find another server without anybody noticing. */
const REPEAT_MS = 30_000;

/** Routine leaves out what changes only with the server. */
type Manner = 'thoroughly' | 'routinely';

export class Preflight implements CallWatch {
  readonly primaries: Primaries;
  readonly #settings: PreflightSettings;
  /** What is known of each primary. */
  readonly #facts = new Map<string, ServerFacts>();
  /** What was told of it, so that it can be found over. */
  #told: ReadonlySet<WarningCode> = new Set();
  /** Whether any lock has the guard. */
  #isGuarded: boolean;
  #unfitness: Unfitness | undefined;
  /** The first look that succeeded, or the one under way. */
  #looked: Promise<void> | undefined;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #cancelLook: CancelTimer | undefined;
  #isClosed = false;

  constructor(settings: PreflightSettings) {
    const { driver, clock, wishes, channels, keyFor } = settings;
    this.#settings = settings;
    this.#isGuarded = wishes.guard.on;
    this.primaries = new Primaries({ driver, clock, channels, keyFor });
  }

  /**
   * What was found; asked for if it has not been.
   *
   * @throws DriverError when the server cannot be used, or does not answer
   */
  async capabilities(): Promise<Capabilities> {
    this.#looked ??= this.#look();
    const looked = this.#looked;
    try {
      await looked;
    } catch (error) {
      if (this.#looked === looked) this.#looked = undefined;
      throw error;
    }
    return this.#summary();
  }

  /**
   * Settles when it is known that what was insisted on can be had.
   *
   * @throws DriverError
   */
  async assertFulfilled(): Promise<void> {
    const error = unfulfilled(await this.capabilities(), this.#settings.wishes);
    if (error !== undefined) throw error;
  }

  /** Looks in the background, if that has not been done, nor just failed. */
  begin(): void {
    const isDue = this.#looked === undefined && this.#settings.clock.now() - this.#lookedAt >= PAUSE_MS;
    if (isDue) this.capabilities().catch(() => this.#warnOfUnfitness());
  }

  get unfitness(): Unfitness | undefined {
    return this.#unfitness;
  }

  refusal(now: number): Error | undefined {
    if (this.#unfitness?.isLasting) {
      // Somebody still tries what cannot be done: there may be another server by now.
      this.#lookSoon('thoroughly');
      return this.#unfitness.error;
    }
    const isOld = now - this.#lookedAt >= REPEAT_MS;
    if (isOld && this.#facts.size > 0) this.#lookSoon('routinely');
    return undefined;
  }

  onRecovered(): void {
    this.#lookSoon('thoroughly');
  }

  /** Takes over what primaries have just said, and tells what is new. */
  learn(facts: readonly ServerFacts[]): void {
    const { wishes, report, warnings, replicaCounts, channels, onPrimary } = this.#settings;
    for (const one of facts) {
      const publishing = one.publishing ?? this.#facts.get(one.node)?.publishing;
      this.#facts.set(one.node, { ...one, publishing });
      if (publishing === 'unknown') channels.giveUpSharded();
      if (!one.isReplica) onPrimary(one);
    }
    const nodes = new Set(this.primaries.nodes());
    for (const node of [...this.#facts.keys()]) if (!nodes.has(node)) this.#facts.delete(node);
    replicaCounts.keepOnly(nodes);

    this.#unfitness = unfitnessOf([...this.#facts.values()], wishes);
    if (this.#unfitness !== undefined) return;
    warnings.forget('HOLDFAST_UNFIT');
    const findings = this.findings();
    const codes = new Set(findings.map(({ code }) => code));
    for (const code of this.#told) if (!codes.has(code)) warnings.forget(code);
    // A release may have said so, and every server has just taken a message.
    const areTaken = facts.length > 0 && facts.every(({ publishing }) => publishing === 'allowed');
    if (areTaken) warnings.forget('HOLDFAST_NO_PUBLISH');
    this.#told = codes;
    for (const { code, message } of findings) report('warning', { code, message });
  }

  /** A lock has the guard, though it is not what the client was told for all: what that needs is told as well. */
  expectGuard(): void {
    if (this.#isGuarded) return;
    this.#isGuarded = true;
    if (this.#facts.size > 0) this.learn([]);
  }

  /** What is to be warned of at present, whether it has been told or not. */
  findings(): Finding[] {
    return findingsOf([...this.#facts.values()], this.#summary(), this.#settings.wishes, this.#isGuarded);
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelLook?.();
  }

  #summary(): Capabilities {
    const { wishes, warnings, replicaCounts, channels } = this.#settings;
    const isDeaf = warnings.has('HOLDFAST_NO_SUBSCRIBE');
    return summarize([...this.#facts.values()], wishes, { replicaCounts, channels: channels.kind, isDeaf });
  }

  #lookSoon(manner: Manner): void {
    if (this.#isClosed || this.#cancelLook !== undefined) return;
    const { clock } = this.#settings;
    this.#cancelLook = clock.inBackground(Math.max(0, this.#lookedAt + PAUSE_MS - clock.now()), () => {
      this.#cancelLook = undefined;
      this.#look(manner).catch(() => this.#warnOfUnfitness());
    });
  }

  /** Asks all of them. One that does not answer is left out, unless none does. */
  async #look(manner: Manner = 'thoroughly'): Promise<void> {
    const { clock, warnings } = this.#settings;
    this.#lookedAt = clock.now();
    const nodes = await this.primaries.find();
    // Routine sends no message, unless it is to find out whether it would be taken.
    const triesAll = manner === 'thoroughly' || warnings.has('HOLDFAST_NO_PUBLISH');
    const answers = await Promise.allSettled(
      nodes.map((node) => this.primaries.ask(node, triesAll || !this.#facts.has(node))),
    );
    const facts = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
    const [first] = answers;
    if (facts.length === 0 && first?.status === 'rejected') throw first.reason;
    await this.#tryWait(facts);
    this.learn(facts);
    if (this.#unfitness !== undefined) throw this.#unfitness.error;
  }

  /** Where it was refused, and on one of the servers that are new. */
  async #tryWait(facts: readonly ServerFacts[]): Promise<void> {
    const { wishes, replicaCounts, warnings } = this.#settings;
    const isWanted = ({ replicas }: ServerFacts) => wishes.replicas !== 'auto' || (replicas ?? 0) > 0;
    const isNew = ({ node, replicationId }: ServerFacts) =>
      this.#facts.get(node)?.replicationId !== replicationId;
    const wanted = wishes.replicas === 0 ? [] : facts.filter(isWanted);
    const [first] = wanted.filter(isNew);
    const doubtful = wanted.filter((one) => one === first || replicaCounts.isRefused(one.node));
    await Promise.all(doubtful.map(({ node }) => this.#tryWaitAt(node)));
    // An acquisition may have said so. What is still wrong is said again.
    if (doubtful.length > 0 && replicaCounts.refusal === null) warnings.forget('HOLDFAST_NO_REPLICAS');
  }

  /** Scripts cannot try it: it takes a connection, which is opened only where replicas are to be waited for. */
  async #tryWaitAt(node: string): Promise<void> {
    const { driver, wishes, replicaCounts } = this.#settings;
    let connection: Connection | undefined;
    try {
      connection = await driver.openConnection(node, { onMessage() {}, onDown() {} });
      await connection.send(['WAIT', '0', '1']);
      replicaCounts.allowed(node);
    } catch (error) {
      if (classify(error) === 'refused') replicaCounts.refused(node, error);
      // What could not be found out will be, by the first acquisition.
      else if (wishes.replicas !== 'auto') throw error;
    } finally {
      connection?.destroy();
    }
  }

  #warnOfUnfitness(): void {
    if (this.#unfitness === undefined) return;
    const { message } = this.#unfitness.error;
    this.#settings.report('warning', { code: 'HOLDFAST_UNFIT', message });
  }
}
