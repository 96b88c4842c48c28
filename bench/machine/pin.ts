/**
 * Ties processes to cores, so that the scheduler does not decide how fast a ping-pong between two processes is. Where
 * there is no `taskset`, or one core only, nothing is tied and the report says so.
 */
import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';

/** Two cores, if they are there. */
export type Core = 0 | 1;

export const canPin =
  availableParallelism() > 1 && spawnSync('taskset', ['-c', '0', 'true'], { stdio: 'ignore' }).status === 0;

/** Ties all threads of a process to a core; `undefined` leaves it where it is. */
export function pin(pid: number, core: Core | undefined): void {
  if (!canPin || core === undefined) return;
  spawnSync('taskset', ['-a', '-c', '-p', String(core), String(pid)], { stdio: 'ignore' });
}
