/**
 * Sends scripts that grant something: behind the guard, where there is one. The caller gets the grant only after
 * enough replicas have it.
 *
 * A grant that too few replicas acknowledge is an error, and is undone like an attempt of unknown outcome. During a
 * grace, the lock looks busy to new owners.
 */
import { ReplicationError } from '../errors.ts';
import { note } from '../explain.ts';
import { classify, UnsentError } from '../outcome.ts';
import type { Script, ScriptRunner } from '../scripts/script.ts';
import type { Guard, GuardTerms } from './guard.ts';
import type { ReplicaAcks } from './replica-acks.ts';

/** The user's name, and the key that determines the server. */
interface Place {
  readonly name: string;
  readonly key: string;
}

interface KeptOut {
  readonly status: 'busy';
  readonly remainingMs: number;
}

/** A script that grants a lock, without and with the guard. */
export interface GrantingScripts<Keys, Args, Reply extends { status: string }> {
  readonly unguarded: Pick<Script<Keys, Args, Reply>, 'run'>;
  /** Runs only at a settled server; left out where waiters have to do something during a grace. */
  readonly settled?: Pick<Script<Keys & { guard: string }, Args, Reply | { status: 'unsettled' }>, 'run'>;
  /** Finds out whether the server is in its grace. */
  readonly guarded: Pick<
    Script<
      Keys & { guard: string },
      Args & GuardTerms,
      Reply | { status: 'grace'; remainingMs: number; server: string }
    >,
    'run'
  >;
}

/** The next attempt finds out about the grace, within the limits of its caller. */
function serverChanged(): Error {
  const error = new UnsentError('another server is in charge, or the same one restarted');
  note(error, error.message);
  return error;
}

/** The answers that grant something; after any other answer there is nothing to acknowledge. */
const GRANTS: ReadonlySet<string> = new Set(['held', 'taken']);

export class GrantSender {
  readonly #driver: ScriptRunner;
  readonly #replicaAcks: ReplicaAcks | undefined;
  readonly #guard: Guard | undefined;

  /** @param replicaAcks left out where no acknowledgements are wanted */
  constructor(driver: ScriptRunner, replicaAcks?: ReplicaAcks, guard?: Guard) {
    this.#driver = driver;
    this.#replicaAcks = replicaAcks;
    this.#guard = guard;
  }

  /**
   * Runs a script that grants a lock.
   *
   * @throws ReplicationError when the lock was granted and too few replicas acknowledged the grant
   */
  lock<Keys extends object, Args extends object, Reply extends { status: string }>(
    place: Place,
    scripts: GrantingScripts<Keys, Args, Reply>,
    keys: Keys,
    args: Args,
  ): Promise<Reply | KeptOut> {
    const needed = this.#needed(place);
    if (needed === 0) return this.#ask(this.#driver, place, scripts, keys, args);
    return this.#waitedFor(place, needed, (runner) => this.#ask(runner, place, scripts, keys, args));
  }

  /** Whether a grant of this key is one command at present, without a wait for replicas. */
  isOneCommand(key: string): boolean {
    return this.#replicaAcks?.isNoneNeeded(key) ?? true;
  }

  /**
   * Runs a script that grants permits, which the guard does not cover.
   *
   * @throws ReplicationError when permits were granted and too few replicas acknowledged the grant
   */
  permits<Keys, Args, Reply extends { status: string }>(
    place: Place,
    script: Script<Keys, Args, Reply>,
    keys: Keys,
    args: Args,
  ): Promise<Reply> {
    const needed = this.#needed(place);
    if (needed === 0) return script.run(this.#driver, keys, args);
    return this.#waitedFor(place, needed, (runner) => script.run(runner, keys, args));
  }

  /** How many acknowledgements a grant needs; a promise when the server has to be asked first. */
  #needed({ key }: Place): number | Promise<number> {
    return this.#replicaAcks?.needed(key) ?? 0;
  }

  /** Sends the script, behind the guard where there is one. */
  #ask<Keys extends object, Args extends object, Reply extends { status: string }>(
    runner: ScriptRunner,
    { key }: Place,
    { unguarded, settled, guarded }: GrantingScripts<Keys, Args, Reply>,
    keys: Keys,
    args: Args,
  ): Promise<Reply | KeptOut> {
    const asks = this.#guard;
    if (asks === undefined) return unguarded.run(runner, keys, args);
    const record = asks.recordFor(key);
    // Both objects were made for this call. Spreading them would cost more than the rest of the client's work.
    const guardedKeys = Object.assign(keys, { guard: record });
    if (settled !== undefined && asks.isSettled(record)) {
      return settled.run(runner, guardedKeys, args).then((reply) => {
        if (reply.status !== 'unsettled') return reply as Reply;
        asks.unsettled(record);
        throw serverChanged();
      });
    }
    return guarded.run(runner, guardedKeys, Object.assign(args, asks.terms())).then((reply) => {
      if (!('server' in reply)) {
        asks.settled(record);
        return reply as Reply;
      }
      asks.saw(key, reply.server);
      return { status: 'busy', remainingMs: reply.remainingMs };
    });
  }

  async #waitedFor<Reply extends { status: string }>(
    place: Place,
    counting: number | Promise<number>,
    grant: (runner: ScriptRunner) => Promise<Reply>,
  ): Promise<Reply> {
    const replicaAcks = this.#replicaAcks as ReplicaAcks;
    const needed = await counting;
    if (needed === 0) return grant(this.#driver);
    const runner = replicaAcks.runnerFor(place.key, needed);
    let reply: Reply;
    try {
      reply = await grant(runner);
    } catch (error) {
      // The driver cannot open connections if the user's client does not reveal how it connects. Nothing was sent.
      const isHopeless = runner.isUndelivered && classify(error) === 'refused';
      if (isHopeless && replicaAcks.giveUp(place.key, error)) return grant(this.#driver);
      throw error;
    }
    if (GRANTS.has(reply.status)) {
      await this.#confirm(replicaAcks, place, needed, runner.acknowledged());
    }
    return reply;
  }

  async #confirm(
    replicaAcks: ReplicaAcks,
    { name, key }: Place,
    needed: number,
    acknowledged: Promise<number>,
  ): Promise<void> {
    let replicas = 0;
    try {
      replicas = await acknowledged;
    } catch (cause) {
      if (classify(cause) === 'refused' && replicaAcks.giveUp(key, cause)) return;
      throw new ReplicationError(name, 0, needed, { cause });
    }
    if (replicas >= needed) return;
    let neededNow: number;
    try {
      neededNow = await replicaAcks.neededNow(key);
    } catch (cause) {
      // The count failed, but the grant has happened.
      throw new ReplicationError(name, replicas, needed, { cause });
    }
    // A replica that left meanwhile does not matter if the remaining ones suffice.
    if (replicas < neededNow) throw new ReplicationError(name, replicas, needed);
  }
}
