/** Whether a process of this machine runs. */
import { readFileSync } from 'node:fs';

/** A zombie, dead but not collected by its parent, counts as gone. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    if (process.platform !== 'linux') return true;
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
