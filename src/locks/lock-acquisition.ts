/**
 * One acquisition of a lock: its owner, its owner field, and the tombstone it leaves when it fails.
 */
import { DriverError } from '../errors.ts';
import { Acquisition } from '../runtime/acquire.ts';
import { assertInTime } from '../runtime/lease-deadline.ts';
import type { Owner } from '../runtime/owner.ts';
import type { AcquireAnswer, LockProtocol, Waiting } from '../runtime/protocol.ts';
import { Tenure } from '../runtime/tenure.ts';
import { leaveTombstone, withdraw } from '../runtime/tombstone.ts';
import { canPassOn, type HoldOptions, LockHold } from './hold.ts';
import type { LockContext } from './lock-context.ts';

interface Lockable {
  readonly context: LockContext;
  readonly protocol: LockProtocol;
  readonly isShared: boolean;
}

/** The owner that asks. `remember` gets the tenure when it begins, and nothing when it ends. */
export interface Asker {
  readonly owner: Owner;
  remember(tenure?: Tenure): void;
}

/** The tenure calls this at its end. It must not keep the acquisition, its line and its promise alive until then. */
function forgetting(asker: Asker | undefined): (() => void) | undefined {
  return asker && (() => asker.remember());
}

export class LockAcquisition extends Acquisition<LockHold, AcquireAnswer> {
  readonly #lock: Lockable;
  readonly #protocol: LockProtocol;
  readonly #asker: Asker | undefined;
  #field: string | undefined;
  readonly #waitMs: number;
  readonly #holdOptions: HoldOptions;
  #sentAt = 0;
  #waiting: Waiting | undefined;

  /** @param asker undefined for a new owner */
  constructor(lock: Lockable, asker: Asker | undefined, holdOptions: HoldOptions, waitMs: number) {
    const { runtime, numbers } = lock.context;
    super(runtime, lock.protocol.line);
    const start = lock.protocol.begin?.(asker?.owner, numbers.next());
    this.#lock = lock;
    this.#protocol = start?.protocol ?? lock.protocol;
    this.#field = start?.field;
    this.#asker = asker;
    this.#waitMs = waitMs;
    this.#holdOptions = holdOptions;
  }

  /** Made on first use, by an attempt or by `waiting` at the end of a wait in line: a queued caller needs no field. */
  get #owner(): string {
    this.#field ??= this.#lock.context.numbers.next();
    return this.#field;
  }

  get #leaseMs(): number {
    return this.#holdOptions.leaseMs ?? this.runtime.watchdogMs;
  }

  /** The owner field, once an attempt has used it. */
  get owner(): string | undefined {
    return this.#field;
  }

  get name(): string {
    return this.#protocol.name;
  }

  protected get what(): string {
    return `acquire "${this.#protocol.name}"`;
  }

  protected get waiting(): Waiting {
    this.#waiting ??= this.#protocol.waiting(this.#owner);
    return this.#waiting;
  }

  protected override get isShared(): boolean {
    return this.#lock.isShared;
  }

  override get isDowngrade(): boolean {
    return this.#protocol.isDowngrade ?? false;
  }

  protected override get isBounded(): boolean {
    return this.#protocol.isOneCommand;
  }

  protected attempt(): Promise<AcquireAnswer> {
    this.#sentAt = this.runtime.leaseClock.sendTime();
    return this.#protocol.acquire(this.#owner, this.#leaseMs, this.#waitMs);
  }

  protected busyMs(answer: AcquireAnswer): number | undefined {
    if (answer.status === 'busy') return answer.remainingMs;
    if (answer.status === 'held') return undefined;
    // An owner field serves one tenure and is barred after it; only a bug in holdfast could reuse it.
    throw new DriverError(
      `An attempt to acquire "${this.#protocol.name}" was repeated after the hold of ${this.#owner} had ended`,
    );
  }

  protected accept({ token }: AcquireAnswer & { token?: number }, doubtful: boolean): LockHold {
    const grant = { owner: this.#owner, sentAt: this.#sentAt, leaseMs: this.#leaseMs, token, doubtful };
    assertInTime(this.runtime, this.#protocol, grant);
    const hold = new LockHold(this.runtime, this.#protocol.name, this.#holdOptions);
    const tenure = new Tenure(this.runtime, this.#protocol, grant, hold, forgetting(this.#asker));
    this.#asker?.remember(tenure);
    return hold.attachTo(tenure);
  }

  /** An acquisition without an explicit lease or a token can use the tenure as it is. */
  protected override takeOver(tenure: Tenure): LockHold | undefined {
    const { protocol } = tenure;
    const isSame = this.#protocol.canPassOn && protocol.identity === this.#protocol.identity;
    if (!isSame || !canPassOn(this.#holdOptions)) return undefined;
    if ((protocol.guarded === undefined) !== (this.#protocol.guarded === undefined)) return undefined;
    const hold = new LockHold(this.runtime, this.#protocol.name, this.#holdOptions);
    tenure.passTo(hold, forgetting(this.#asker));
    this.#asker?.remember(tenure);
    return hold.attachTo(tenure);
  }

  protected abandon(): void {
    leaveTombstone(
      this.runtime,
      this.#protocol,
      this.#owner,
      Math.max(this.#leaseMs, this.#protocol.waitNoteMs ?? 0),
    );
  }

  /** Where the server keeps a queue or a note of waiters, the owner must leave it. */
  protected override withdraw(): boolean {
    if (this.#protocol.waitNoteMs === undefined || this.#waitMs === 0) return false;
    withdraw(this.runtime, this.#protocol, this.#owner);
    return true;
  }
}
