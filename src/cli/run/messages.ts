/**
 * What `run` says on stderr: stdout belongs to the command. Lines for people, or with `--json` one object each.
 */
import type { OnceRecord } from './once.ts';

export type RunEvent =
  | { event: 'acquired'; name: string; owner: string; token?: number | undefined }
  | { event: 'timedOut'; name: string; waitMs: number; holders: readonly string[] }
  | { event: 'skipped'; name: string; once: string; done: OnceRecord }
  | { event: 'stopping'; name: string; remainingMs: number; reason: string }
  | { event: 'lost'; name: string; reason: string }
  | { event: 'notReleased'; name: string; reason: string }
  | { event: 'released'; name: string };

/** Null for what people need not know. */
function textOf(told: RunEvent): string | null {
  switch (told.event) {
    case 'timedOut': {
      const by = told.holders.length === 0 ? '' : `: held by ${told.holders.join(', ')}`;
      return `"${told.name}" was not free within ${told.waitMs} ms${by}`;
    }
    case 'skipped':
      return `"${told.once}" is done already, by ${told.done.label} at ${told.done.at}`;
    case 'stopping':
      return `stopping the command, ${Math.round(told.remainingMs)} ms before "${told.name}" must be given up: ${told.reason}`;
    case 'lost':
      return `"${told.name}" was lost: ${told.reason}`;
    case 'notReleased':
      return `"${told.name}" could not be released, and stays held until its lease ends: ${told.reason}`;
    default:
      return null;
  }
}

/** Writes an event. */
export type Tell = (told: RunEvent) => void;

export function teller(isJson: boolean, write: (line: string) => void): Tell {
  return (told) => {
    if (isJson) return write(`${JSON.stringify(told)}\n`);
    const text = textOf(told);
    if (text !== null) write(`holdfast run: ${text}\n`);
  };
}
