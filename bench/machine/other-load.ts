/**
 * How much of the machine was used by others while something was measured, as Linux accounts for it. Elsewhere it is
 * unknown and taken for nothing.
 */
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

/** What Linux counts in: a hundredth of a second. */
const TICK_MS = 10;

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** Time that processes used, and that the host took away, on all cores. Interrupts are left out: most are our own. */
function busyMs(): number {
  const [, user = 0, nice = 0, system = 0, , , , , steal = 0] = read('/proc/stat')
    .split(/\s+/, 9)
    .map(Number);
  return (user + nice + system + steal) * TICK_MS;
}

/** Time that a process has used since it started. */
function usedMs(pid: number): number {
  // The second field is the program's name, which may contain anything but ends with the last parenthesis.
  const fields = read(`/proc/${pid}/stat`).split(') ').at(-1)?.split(' ') ?? [];
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * TICK_MS;
}

export class OtherLoad {
  readonly #startedAt = performance.now();
  readonly #busyMs = busyMs();
  readonly #usedMs: number;
  readonly #standing: readonly number[];

  /** @param standing processes of the bench that were there before */
  constructor(standing: readonly number[]) {
    this.#standing = standing;
    this.#usedMs = this.#used(standing);
  }

  /**
   * The share of the machine that others used since, 0 to 1.
   *
   * @param pids processes of the bench that were started since and are still there
   */
  share(pids: readonly number[]): number {
    const ours = this.#used([...this.#standing, ...pids]) - this.#usedMs;
    const others = Math.max(0, busyMs() - this.#busyMs - ours);
    return others / ((performance.now() - this.#startedAt) * availableParallelism());
  }

  #used(pids: readonly number[]): number {
    return pids.reduce((total, pid) => total + usedMs(pid), 0);
  }
}
