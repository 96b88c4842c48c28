/**
 * Inspects the servers before the client relies on them, and again when they may have changed: at the first answer
 * after failed calls, and at intervals while they are in use. Keeps the findings, and reports new ones.
 */

import type { CancelTimer, Clock } from '../clock.ts';
import type { CallWatch } from '../drivers/call-timeout.ts';
import type { Connection, Driver } from '../drivers/driver.ts';
import type { Report, WarningCode } from '../events.ts';
import { classify } from '../outcome.ts';
import type { ReplicaCounts } from '../requests/replica-counts.ts';
import type { WakeChannels } from '../runtime/wake/channels.ts';
import type { Warnings } from '../telemetry/warnings.ts';
import { type Capabilities, type Requirements, summarize } from './capabilities.ts';
import { type Finding, findingsOf, type Unfitness, unfitnessOf, unfulfilled } from './findings.ts';
import { Primaries } from './primaries.ts';
import type { ServerFacts } from './server-facts.ts';

export interface PreflightSettings {
  /** With a time-out, but without this watch on its calls. */
  readonly driver: Driver;
  readonly clock: Clock;
  readonly report: Report;
  readonly warnings: Warnings;
  readonly requirements: Requirements;
  readonly replicaCounts: ReplicaCounts;
  readonly channels: WakeChannels;
  /** A holdfast key in the slot of the given text. */
  keyFor(text: string): string;
  /** Receives each primary. */
  onPrimary(facts: ServerFacts): void;
}

/** The shortest time between two inspections, however often calls fail. */
const PAUSE_MS = 1_000;

/** The time between inspections when no call fails: a library may switch servers without reporting it. */
const REPEAT_MS = 30_000;

/** A routine inspection omits what changes only with the server. */
type Manner = 'thoroughly' | 'routinely';

export class Preflight implements CallWatch {
  readonly primaries: Primaries;
  /** Never before the first inspection, always while the server is unfit, and otherwise when the last one is old. */
  dueAt = Number.POSITIVE_INFINITY;
  readonly #settings: PreflightSettings;
  /** The facts by primary. */
  readonly #facts = new Map<string, ServerFacts>();
  /** The reported warnings, to withdraw obsolete ones. */
  #told: ReadonlySet<WarningCode> = new Set();
  /** Whether any lock has the guard. */
  #isGuarded: boolean;
  #unfitness: Unfitness | undefined;
  /** The first inspection that succeeded, or the pending one. */
  #looked: Promise<void> | undefined;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #cancelLook: CancelTimer | undefined;
  #isClosed = false;

  constructor(settings: PreflightSettings) {
    const { driver, clock, requirements, channels, keyFor } = settings;
    this.#settings = settings;
    this.#isGuarded = requirements.guard.on;
    this.primaries = new Primaries({ driver, clock, channels, keyFor });
  }

  /**
   * The capabilities, from the first inspection.
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
   * Resolves when the servers can provide what the settings require.
   *
   * @throws DriverError
   */
  async assertFulfilled(): Promise<void> {
    const error = unfulfilled(await this.capabilities(), this.#settings.requirements);
    if (error !== undefined) throw error;
  }

  /** Inspects in the background, unless that was done or has just failed. */
  begin(): void {
    const isDue = this.#looked === undefined && this.#settings.clock.now() - this.#lookedAt >= PAUSE_MS;
    if (isDue) this.capabilities().catch(() => this.#warnOfUnfitness());
  }

  get unfitness(): Unfitness | undefined {
    return this.#unfitness;
  }

  refusal(): Error | undefined {
    const isUnfit = this.#unfitness?.isLasting === true;
    // The caller still tries to use an unfit server: it may have been replaced by now.
    this.#lookSoon(isUnfit ? 'thoroughly' : 'routinely');
    return isUnfit ? this.#unfitness?.error : undefined;
  }

  onRecovered(): void {
    this.#lookSoon('thoroughly');
  }

  /** Stores new facts of primaries, and reports new findings. */
  learn(facts: readonly ServerFacts[]): void {
    const { requirements, report, warnings, replicaCounts, channels, onPrimary } = this.#settings;
    for (const one of facts) {
      const publishing = one.publishing ?? this.#facts.get(one.node)?.publishing;
      this.#facts.set(one.node, { ...one, publishing });
      if (publishing === 'unknown') channels.giveUpSharded();
      if (!one.isReplica) onPrimary(one);
    }
    const nodes = new Set(this.primaries.nodes());
    for (const node of [...this.#facts.keys()]) if (!nodes.has(node)) this.#facts.delete(node);
    replicaCounts.keepOnly(nodes);

    this.#unfitness = unfitnessOf([...this.#facts.values()], requirements);
    this.#setDue();
    if (this.#unfitness !== undefined) return;
    warnings.forget('HOLDFAST_UNFIT');
    const findings = this.findings();
    const codes = new Set(findings.map(({ code }) => code));
    for (const code of this.#told) if (!codes.has(code)) warnings.forget(code);
    // A release may have set this warning; every server now accepts messages.
    const areTaken = facts.length > 0 && facts.every(({ publishing }) => publishing === 'allowed');
    if (areTaken) warnings.forget('HOLDFAST_NO_PUBLISH');
    this.#told = codes;
    for (const { code, message } of findings) report('warning', { code, message });
  }

  /** A single lock has the guard although the client's default is off: findings about the guard now matter too. */
  expectGuard(): void {
    if (this.#isGuarded) return;
    this.#isGuarded = true;
    if (this.#facts.size > 0) this.learn([]);
  }

  /** What every primary last said of itself. */
  facts(): readonly ServerFacts[] {
    return [...this.#facts.values()];
  }

  /** All current findings, reported or not. */
  findings(): Finding[] {
    return findingsOf(
      [...this.#facts.values()],
      this.#summary(),
      this.#settings.requirements,
      this.#isGuarded,
    );
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelLook?.();
  }

  #summary(): Capabilities {
    const { requirements, warnings, replicaCounts, channels } = this.#settings;
    const isDeaf = warnings.has('HOLDFAST_NO_SUBSCRIBE');
    return summarize([...this.#facts.values()], requirements, {
      replicaCounts,
      channels: channels.kind,
      isDeaf,
    });
  }

  #setDue(): void {
    if (this.#unfitness?.isLasting) this.dueAt = Number.NEGATIVE_INFINITY;
    else if (this.#facts.size > 0) this.dueAt = this.#lookedAt + REPEAT_MS;
    else this.dueAt = Number.POSITIVE_INFINITY;
  }

  #lookSoon(manner: Manner): void {
    if (this.#isClosed || this.#cancelLook !== undefined) return;
    const { clock } = this.#settings;
    this.#cancelLook = clock.inBackground(Math.max(0, this.#lookedAt + PAUSE_MS - clock.now()), () => {
      this.#cancelLook = undefined;
      this.#look(manner).catch(() => this.#warnOfUnfitness());
    });
  }

  /** Asks all primaries. Leaves out those that do not answer, unless none does. */
  async #look(manner: Manner = 'thoroughly'): Promise<void> {
    const { clock, warnings } = this.#settings;
    this.#lookedAt = clock.now();
    this.#setDue();
    const nodes = await this.primaries.find();
    // A routine inspection publishes only to find out whether an earlier refusal still applies.
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

  /** Tries WAIT where it was refused, and on one of the new servers. */
  async #tryWait(facts: readonly ServerFacts[]): Promise<void> {
    const { requirements, replicaCounts, warnings } = this.#settings;
    const isWanted = ({ replicas }: ServerFacts) => requirements.replicas !== 'auto' || (replicas ?? 0) > 0;
    const isNew = ({ node, replicationId }: ServerFacts) =>
      this.#facts.get(node)?.replicationId !== replicationId;
    const wanted = requirements.replicas === 0 ? [] : facts.filter(isWanted);
    const [first] = wanted.filter(isNew);
    const doubtful = wanted.filter((one) => one === first || replicaCounts.isRefused(one.node));
    await Promise.all(doubtful.map(({ node }) => this.#tryWaitAt(node)));
    // An acquisition may have set this warning. It returns if it still applies.
    if (doubtful.length > 0 && replicaCounts.refusal === null) warnings.forget('HOLDFAST_NO_REPLICAS');
  }

  /** Scripts cannot call WAIT: this opens a connection, and only where replica acknowledgements are wanted. */
  async #tryWaitAt(node: string): Promise<void> {
    const { driver, requirements, replicaCounts } = this.#settings;
    let connection: Connection | undefined;
    try {
      connection = await driver.openConnection(node, { onMessage() {}, onDown() {} });
      await connection.send(['WAIT', '0', '1']);
      replicaCounts.allowed(node);
    } catch (error) {
      if (classify(error) === 'refused') replicaCounts.refused(node, error);
      // The first acquisition will find out.
      else if (requirements.replicas !== 'auto') throw error;
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
