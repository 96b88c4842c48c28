/** The input of every rule, and texts that several rules use. */
import type { Digest, HoldStory } from '../digest.ts';
import type { CheckBounds, Violation, ViolationKind } from '../verdict.ts';
import type { Window, Windows } from '../windows.ts';

export interface Case {
  readonly digest: Digest;
  readonly windows: Windows;
  readonly bounds: CheckBounds;
}

/** A rule: returns everything in a history that breaks it. */
export type Sweep = (history: Case) => Violation[];

/** A violation by these holds, in this interval. */
export function violation(
  kind: ViolationKind,
  holds: readonly HoldStory[],
  [fromNs, toNs]: readonly [number, number],
  text: string,
): Violation {
  return {
    kind,
    key: holds[0]?.key ?? '',
    text,
    fromNs,
    toNs,
    holds: holds.map(({ id }) => id),
    procs: [...new Set(holds.map(({ proc }) => proc))],
  };
}

/** A window as text. */
export function told({ digest }: Case, { hold, fromNs, toNs }: Window): string {
  return `${named(hold)} (${digest.at(fromNs)} to ${digest.at(toNs)})`;
}

/** A hold as text: its handle and its holder. */
export function named({ id, proc, worker }: HoldStory): string {
  return `${id} of ${proc}/${worker}`;
}
