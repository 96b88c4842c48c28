/**
 * Searches short samples of a history for an order that explains them, and reduces a sample without one to the calls
 * that matter.
 */
import { search } from './linearizability.ts';
import { type Part, type Sample, Sampler } from './samples.ts';
import type { Case } from './sweeps/sweep.ts';
import type { Violation } from './verdict.ts';

/** Returns the samples that no order explains, and whether a search was abandoned. */
export function searchSamples(history: Case): { unexplained: Violation[]; gaveUp: boolean } {
  const { digest, bounds } = history;
  const unexplained = new Map<string, Violation>();
  let gaveUp = false;
  if (bounds.samples === 0) return { unexplained: [], gaveUp };
  for (const sample of new Sampler(digest, bounds).pick()) {
    const { verdict } = search(sample.model, operationsOf(sample.parts), bounds.searchSteps);
    gaveUp ||= verdict === 'unknown';
    if (verdict !== 'invalid') continue;
    const found = violationOf(history, shrinkSample(sample, bounds.searchSteps));
    // Overlapping samples reduce to the same calls.
    unexplained.set(found.text, found);
  }
  return { unexplained: [...unexplained.values()], gaveUp };
}

/**
 * Removes one acquisition after the other, with its consequences, as long as no order explains the rest. Keeps what
 * could explain a refusal in the rest.
 */
export function shrinkSample(sample: Sample, searchSteps: number): Sample {
  let { parts } = sample;
  for (let hasShrunk = true; hasShrunk; ) {
    hasShrunk = false;
    for (const part of parts) {
      const rest = parts.filter((each) => each !== part);
      const isNeeded = !isRefusal(part) && rest.some((each) => isRefusal(each) && overlap(each, part));
      if (isNeeded || search(sample.model, operationsOf(rest), searchSteps).verdict !== 'invalid') continue;
      parts = rest;
      hasShrunk = true;
    }
  }
  return { ...sample, parts };
}

function operationsOf(parts: readonly Part[]) {
  return parts.flatMap(({ operations }) => operations);
}

function isRefusal({ call }: Part): boolean {
  return call.outcome?.type === 'fail';
}

function overlap(a: Part, b: Part): boolean {
  return a.fromNs <= b.toNs && b.fromNs <= a.toNs;
}

function violationOf({ digest }: Case, { key, model, parts }: Sample): Violation {
  const told = parts.map(({ call, hold, fromNs }) => {
    const { proc, worker } = call.invoke;
    const outcome = { ok: 'was granted it', fail: 'was refused', info: 'does not know', invoke: '' };
    const how = call.outcome === undefined ? 'never heard' : outcome[call.outcome.type];
    const until = hold?.release === undefined ? '' : `, until ${digest.at(hold.release.invoke.atNs)}`;
    const name = hold === undefined ? '' : ` (${hold.id}${until})`;
    return `${proc}/${worker} asked at ${digest.at(fromNs)} and ${how} at ${digest.at(digest.endOf(call))}${name}`;
  });
  const ends = parts.map(({ call, hold }) => digest.endOf(hold?.release ?? call));
  return {
    kind: 'not-linearizable',
    key,
    text: `No order of these calls of "${key}" is one of a ${model.name}: ${told.join('; ')}`,
    fromNs: Math.min(...parts.map(({ fromNs }) => fromNs)),
    toNs: Math.min(digest.endNs, Math.max(...ends)),
    holds: parts.flatMap(({ hold }) => (hold === undefined ? [] : [hold.id])),
    procs: [...new Set(parts.map(({ call }) => call.invoke.proc))],
  };
}
