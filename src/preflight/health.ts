/**
 * The current state for readiness probes: asks every primary and lists all known problems. Never rejects, and takes no
 * longer than one command may.
 */

import type { Clock } from '../clock.ts';
import { type ErrorCode, OutcomeUnknownError } from '../errors.ts';
import type { WarningCode } from '../events.ts';
import { toHoldfastError } from '../outcome.ts';
import type { Warnings } from '../telemetry/warnings.ts';
import type { Preflight } from './preflight.ts';
import type { ServerFacts } from './server-facts.ts';

/** A problem. */
export interface Problem {
  /** The code of a warning or of an error, or `HOLDFAST_AT_RISK`: holds whose renewals fail. */
  readonly code: WarningCode | ErrorCode | 'HOLDFAST_AT_RISK';
  readonly message: string;
  /** The server concerned, as `host:port`, if there are several. */
  readonly node?: string;
}

/** The current state. */
export interface Health {
  /**
   * - `ok`: every primary answers, and no problem is known
   * - `degraded`: there are problems; see `problems`
   * - `down`: no primary answers, or those that answer cannot keep locks, or the client is closing or closed
   */
  readonly status: 'ok' | 'degraded' | 'down';
  /** The round trip to the slowest primary that answered; null when none did. */
  readonly latencyMs: number | null;
  readonly problems: readonly Problem[];
  /** Every primary. Its name is `host:port` in a Cluster, and empty where there is only one. */
  readonly nodes: readonly { readonly node: string; readonly latencyMs: number | null }[];
}

export interface HealthSettings {
  readonly preflight: Preflight;
  readonly warnings: Warnings;
  readonly clock: Clock;
  readonly withinMs: number;
  /** The number of holds whose renewals currently fail. */
  holdsAtRisk(): number;
}

interface Asked {
  readonly node: string;
  readonly facts?: ServerFacts;
  readonly problem?: Problem;
}

function rounded(ms: number): number {
  return Math.round(ms * 10) / 10;
}

function problemOf(error: unknown, node: string): Problem {
  const { code, message } = toHoldfastError(error, 'read the state of the server');
  return node === '' ? { code, message } : { code, message: `${node}: ${message}`, node };
}

/** Rejects after the time limit; a later result is ignored. */
function bounded<T>(promise: Promise<T>, clock: Clock, withinMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(withinMs, () =>
      reject(new OutcomeUnknownError(`The server did not answer within ${withinMs} ms`)),
    );
    promise.then(resolve, reject).finally(cancel);
  });
}

/** The problems other than servers that do not answer. */
function problemsKnown({ preflight, warnings, holdsAtRisk }: HealthSettings, answered: number): Problem[] {
  const problems: Problem[] = [];
  const { unfitness } = preflight;
  if (unfitness !== undefined) {
    problems.push({ code: unfitness.error.code, message: unfitness.error.message });
  } else if (answered > 0) problems.push(...preflight.findings());
  const listed = new Set(problems.map(({ code }) => code));
  // Warnings found during operation: that publishing is refused, for example.
  for (const { code, message } of warnings) {
    if (!listed.has(code) && code !== 'HOLDFAST_UNFIT') problems.push({ code, message });
  }
  const atRisk = holdsAtRisk();
  if (atRisk > 0) {
    const message = `Renewals fail: ${atRisk} ${atRisk === 1 ? 'hold is' : 'holds are'} at risk of being lost`;
    problems.push({ code: 'HOLDFAST_AT_RISK', message });
  }
  return problems;
}

export async function checkHealth(settings: HealthSettings): Promise<Health> {
  const { preflight, warnings, clock, withinMs } = settings;
  const { primaries } = preflight;
  const startedAt = clock.now();
  // If the search fails, the primaries known so far are checked.
  const nodes = await bounded(primaries.find(), clock, withinMs).catch(() => primaries.nodes());
  // A search that timed out has used up the time: the known primaries get 1 ms.
  const leftMs = Math.max(1, withinMs - (clock.now() - startedAt));
  // Publishing is tried only after a refusal: otherwise every check would send a message.
  const isMute = warnings.has('HOLDFAST_NO_PUBLISH');
  const asked = await Promise.all(
    nodes.map(async (node): Promise<Asked> => {
      try {
        return { node, facts: await bounded(primaries.ask(node, isMute), clock, leftMs) };
      } catch (error) {
        return { node, problem: problemOf(error, node) };
      }
    }),
  );
  const facts = asked.flatMap((one) => one.facts ?? []);
  if (facts.length > 0) preflight.learn(facts);
  const problems = [...asked.flatMap((one) => one.problem ?? []), ...problemsKnown(settings, facts.length)];
  const isDown = facts.length === 0 || preflight.unfitness !== undefined;
  return {
    status: isDown ? 'down' : problems.length > 0 ? 'degraded' : 'ok',
    latencyMs: facts.length === 0 ? null : rounded(Math.max(...facts.map(({ latencyMs }) => latencyMs))),
    problems,
    nodes: asked.map(({ node, facts: told }) => ({
      node,
      latencyMs: told === undefined ? null : rounded(told.latencyMs),
    })),
  };
}
