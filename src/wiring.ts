/**
 * Puts the parts of one client together: what every lock and synchronizer of it shares.
 */

import type { Clock } from './clock.ts';
import type { SynchronizerContext } from './counters/counter.ts';
import { HeldPermits } from './counters/expirable-permit.ts';
import { renewPermits } from './counters/expirable-permit-protocol.ts';
import { OncePerName } from './counters/once-per-name.ts';
import { SharedLooks } from './counters/shared-look.ts';
import { withCallTimeout } from './drivers/call-timeout.ts';
import type { Driver } from './drivers/driver.ts';
import type { Report } from './events.ts';
import { ClientRecords } from './inspect/client-records.ts';
import type { ClientRecord } from './inspect/description.ts';
import { type InspectedDriver, Inspector } from './inspect/inspector.ts';
import { type DatedHold, OwnRecord } from './inspect/own-record.ts';
import type { LockContext } from './locks/lock-context.ts';
import { renewReads } from './locks/read-protocol.ts';
import type { ReadWriteRenewals } from './locks/read-write-lock.ts';
import { REENTRANT_SCRIPTS } from './locks/reentrant-lock.ts';
import { renewWith } from './locks/scripted-protocol.ts';
import { SIMPLE_SCRIPTS } from './locks/simple-lock.ts';
import { checkName, checkSlots } from './options/checks.ts';
import { checkGrace, type Settings } from './options/settings.ts';
import { Preflight } from './preflight/preflight.ts';
import { readReplication } from './preflight/server-facts.ts';
import { AnswerRetention } from './requests/answer-retention.ts';
import { GrantSender } from './requests/grant-sender.ts';
import { Guard } from './requests/guard.ts';
import { ReplicaAcks } from './requests/replica-acks.ts';
import { ReplicaCounts } from './requests/replica-counts.ts';
import type { Wire } from './requests/wire.ts';
import type { LongHoldLimits } from './runtime/long-hold-warnings.ts';
import { OwnerNumbers, Sections } from './runtime/owner.ts';
import type { Renew } from './runtime/protocol.ts';
import { Runtime } from './runtime/runtime.ts';
import { WakeChannels } from './runtime/wake/channels.ts';
import { inspectPrimary, lockPeek } from './scripts/generated.ts';
import type { ScriptRunner } from './scripts/script.ts';
import type { Warnings } from './telemetry/warnings.ts';

/** The parts of a client; tests replace the clock. */
export interface Parts {
  readonly id: string;
  readonly driver: Driver;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly report: Report;
  readonly warnings: Warnings;
  /** The number of replicas the user declared. */
  readonly expectedReplicas: number;
  readonly connectionName?: string | undefined;
}

/** Undefined where no option asks for a warning. */
function longHoldLimits({ warnHeldMs, warnWaitMs }: Settings): LongHoldLimits | undefined {
  if (warnHeldMs === undefined && warnWaitMs === undefined) return undefined;
  return {
    heldMs: warnHeldMs ?? Number.POSITIVE_INFINITY,
    waitMs: warnWaitMs ?? Number.POSITIVE_INFINITY,
  };
}

export class Wiring {
  readonly driver: Driver;
  readonly runtime: Runtime;
  readonly context: LockContext;
  readonly synchronizers: SynchronizerContext;
  readonly permits: HeldPermits;
  readonly renewals: {
    readonly reentrant: Renew;
    readonly simple: Renew;
    readonly readWrite: ReadWriteRenewals;
  };
  readonly guard: Guard;
  readonly preflight: Preflight;
  readonly inspector: Inspector;
  readonly ownRecord: OwnRecord;
  readonly #own: readonly [id: string, record: ClientRecord];
  readonly #unguarded: Wire;
  readonly #guarded: Wire;
  readonly #isGuarded: boolean;
  readonly #report: Report;

  constructor({ id, driver, settings, clock, report, warnings, expectedReplicas, connectionName }: Parts) {
    const { watchdogMs, commandTimeoutMs, fairWaitMs, mapName, shardedPubSub } = settings;
    const { replicas, replicaTimeoutMs, isGuarded, graceMs, label } = settings;
    this.#report = report;
    const isSharded = shardedPubSub !== false && driver.topology === 'cluster';
    const channels = new WakeChannels(isSharded ? 'sharded' : 'plain');
    const replicaCounts = new ReplicaCounts({
      clock,
      requirement: replicas,
      expected: expectedReplicas,
      topology: driver.topology,
    });
    this.guard = new Guard({ clock, graceMs, driver });
    this.#isGuarded = isGuarded;
    this.preflight = new Preflight({
      driver: withCallTimeout(driver, clock, commandTimeoutMs, undefined, connectionName),
      clock,
      report,
      warnings,
      requirements: {
        library: driver.library,
        topology: driver.topology,
        replicas,
        guard: { on: isGuarded, graceMs },
      },
      replicaCounts,
      channels,
      keyFor: (text) => this.guard.recordFor(text),
      onPrimary: ({ node, replicationId, replicas: connected }) => {
        this.guard.sawAt(node, replicationId);
        if (connected !== null) replicaCounts.counted(node, connected);
      },
    });
    this.driver = withCallTimeout(driver, clock, commandTimeoutMs, this.preflight, connectionName);
    this.ownRecord = new OwnRecord({
      id,
      label,
      driver: this.driver,
      clock,
      watchdogMs,
      report,
      holds: () => this.#datedHolds(),
    });
    this.runtime = new Runtime({
      clientId: id,
      label,
      driver: this.driver,
      clock,
      watchdogMs,
      commandTimeoutMs,
      passOn: settings.passOn,
      report,
      takeBack: (code) => warnings.forget(code),
      channels,
      peek: async (locks) => (await lockPeek.run(this.driver, { locks }, {})).remaining,
      whileHolding: () => this.ownRecord.keep(),
      longHoldLimits: longHoldLimits(settings),
    });
    this.#own = [id, this.ownRecord.record];
    const records = this.#recordsThrough(this.driver);
    this.inspector = new Inspector(this.driver, this.runtime, records);
    driver.onSwitched?.((advice) => {
      this.preflight.onRecovered();
      this.runtime.watchdog.confirmAll();
      if (advice === undefined) return;
      // Report every switch, even if the last one was reported.
      warnings.forget('HOLDFAST_STALE_PRIMARY');
      report('warning', { code: 'HOLDFAST_STALE_PRIMARY', message: advice });
    });

    const replicaAcks =
      replicas === 0
        ? undefined
        : new ReplicaAcks({
            driver: this.driver,
            replicaCounts,
            timeoutMs: replicaTimeoutMs,
            count: (key) => this.#countReplicas(key),
            onUnavailable: (why) => this.#warnOfReplicas(why),
          });
    const wireWith = (guardOfLock?: Guard): Wire => ({
      driver: this.driver,
      clock,
      replicaCounts,
      writesOnce: driver.writesOnce,
      grantSender: new GrantSender(this.driver, replicaAcks, guardOfLock),
      guard: guardOfLock,
      get isHeardByAll() {
        return driver.topology !== 'cluster' || channels.kind === 'sharded';
      },
      get publish() {
        return channels.publish;
      },
      rememberMs: this.runtime.rememberMs,
      commandTimeoutMs,
      fairWaitMs,
      keyOf: (name) => checkSlots(driver.keyPrefix + checkName(mapName(name)), driver.topology),
      announced: (accepted) => this.#announced(accepted),
    });
    this.#unguarded = wireWith();
    this.#guarded = wireWith(this.guard);
    const shared = {
      runtime: this.runtime,
      numbers: new OwnerNumbers(id),
      answerRetention: new AnswerRetention(clock, this.#unguarded),
    };
    const labelOf = async (owner: string) => (await records.read([owner])).owner(owner).client?.label;
    this.context = { ...shared, clientId: id, sections: new Sections(), labelOf };
    this.synchronizers = {
      ...shared,
      wire: this.#unguarded,
      sharedLooks: new SharedLooks(),
      oncePerName: new OncePerName(),
    };
    const reentrant = renewWith(REENTRANT_SCRIPTS, this.#unguarded);
    this.renewals = {
      reentrant,
      simple: renewWith(SIMPLE_SCRIPTS, this.#unguarded),
      readWrite: { read: renewReads(this.#unguarded), write: reentrant },
    };
    this.permits = new HeldPermits(renewPermits(this.#unguarded));
  }

  /**
   * How a lock talks to the server. The lock's option decides on the guard, or else the client's.
   *
   * @throws OptionError
   */
  wire(guarded = this.#isGuarded): Wire {
    if (!guarded) return this.#unguarded;
    checkGrace(this.runtime.watchdogMs, this.guard.graceMs);
    this.preflight.expectGuard();
    return this.#guarded;
  }

  /** What looks at the servers through another driver: one that sets a pace. */
  inspectorThrough(driver: InspectedDriver): Inspector {
    return new Inspector(driver, this.runtime, this.#recordsThrough(driver));
  }

  #recordsThrough(driver: ScriptRunner): ClientRecords {
    return new ClientRecords(driver, (key) => this.runtime.slotOf(key), this.#own);
  }

  /** What this client holds, the oldest first, with times by the wall clock, for people. */
  *#datedHolds(): Iterable<DatedHold> {
    const { tenures, leaseClock } = this.runtime;
    const wallOffsetMs = Date.now() - leaseClock.now();
    for (const { protocol, owner, beganAt } of tenures) {
      yield [protocol.key, owner, Math.round(beganAt + wallOffsetMs)];
    }
  }

  async #countReplicas(key: string): Promise<number | null> {
    const { info } = await inspectPrimary.run(this.driver, { lock: key }, {});
    const { replicationId, replicas } = readReplication(info);
    this.guard.saw(key, replicationId);
    return replicas;
  }

  #warnOfReplicas(why: unknown): void {
    this.#report('warning', {
      code: 'HOLDFAST_NO_REPLICAS',
      message:
        'The server does not permit waiting for replica acknowledgements, so a failover may lose a lock: ' +
        (why instanceof Error ? why.message : String(why)),
    });
  }

  #announced(accepted: number): void {
    if (accepted === 1) return;
    this.#report('warning', {
      code: 'HOLDFAST_NO_PUBLISH',
      message: 'The server refused to publish a wake-up (is PUBLISH permitted?); waiters poll instead',
    });
  }
}
