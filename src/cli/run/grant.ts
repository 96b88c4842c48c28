/**
 * What `run` holds while its command runs: a lock, or a permit of a semaphore, behind one face.
 */
import type { Holdfast } from '../../client.ts';
import type { FencedHold } from '../../locks/fenced-lock.ts';
import type { Hold } from '../../locks/hold.ts';

export interface Grant {
  /** The owner field, or the id of the permit. */
  readonly owner: string;
  /** The fencing token; only the fenced lock has one. */
  readonly token: number | undefined;
  readonly signal: AbortSignal;
  readonly remainingMs: number;
  /** Resolves to false if it had been lost. */
  release(): Promise<boolean>;
}

export interface GrantRequest {
  readonly fair?: true | undefined;
  /** How many commands may run at once; a lock when left out. */
  readonly permits?: number | undefined;
  readonly leaseMs?: number | undefined;
  /** `Infinity`: as long as it takes. */
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

function ofHold(hold: Hold | FencedHold): Grant {
  return {
    owner: hold.owner,
    token: 'token' in hold ? hold.token : undefined,
    get signal() {
      return hold.signal;
    },
    get remainingMs() {
      return hold.remainingMs;
    },
    release: () => hold.unlock(),
  };
}

async function acquirePermit(client: Holdfast, name: string, permits: number, request: GrantRequest) {
  const { leaseMs, waitMs, signal } = request;
  const semaphore = client.getPermitExpirableSemaphore(name, { permits });
  const permit =
    waitMs === Number.POSITIVE_INFINITY
      ? await semaphore.acquire({ leaseMs, signal })
      : await semaphore.tryAcquire({ waitMs, leaseMs, signal });
  if (permit === null) return null;
  return {
    owner: permit.id,
    token: undefined,
    get signal() {
      return permit.signal;
    },
    get remainingMs() {
      return permit.remainingMs;
    },
    release: () => permit.release(),
  };
}

/** Null if it was not free within the time. Rejects with the reason of `signal` when that aborts. */
export async function acquireGrant(
  client: Holdfast,
  name: string,
  request: GrantRequest,
): Promise<Grant | null> {
  const { fair, permits, leaseMs, waitMs, signal } = request;
  if (permits !== undefined) return acquirePermit(client, name, permits, request);
  const lock = fair ? client.getFairLock(name) : client.getFencedLock(name);
  const hold =
    waitMs === Number.POSITIVE_INFINITY
      ? await lock.lock({ leaseMs, signal })
      : await lock.tryLock({ waitMs, leaseMs, signal });
  return hold === null ? null : ofHold(hold);
}
