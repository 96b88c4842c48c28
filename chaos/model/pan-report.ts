/**
 * Reads what a verifier made by spin prints: how many states it visited, whether it visited all, what it found broken.
 */
import type { Property } from './configurations.ts';

export interface PanReport {
  readonly states: number;
  readonly errors: number;
  /** Every state was visited and kept whole. A search that finds an error stops there. */
  readonly isExhaustive: boolean;
  /** What the first error broke; `situation` is one that the search was told to look for. */
  readonly broken: Property | 'situation' | undefined;
}

/** How the texts of failed assertions begin to differ. */
const ASSERTIONS: readonly (readonly [RegExp, Property | 'situation'])[] = [
  [/believes/, 'exclusion'],
  [/over\[/, 'ended'],
  [/hasHighest/, 'tokens'],
  [/calmFor/, 'waiters'],
  [/answer/, 'barred'],
  [/\((\d+)!=\1\)/, 'situation'],
];

const INCOMPLETE =
  /max search depth too small|out of memory|reached -DMEMLIM|search not completed|interrupted|truncated/i;

function brokenIn(text: string): PanReport['broken'] {
  if (/^pan:\d+: non-progress cycle/m.test(text)) return 'time';
  const assertion = /assertion violated (.*) \(at depth/.exec(text)?.[1];
  if (assertion === undefined) return undefined;
  return ASSERTIONS.find(([pattern]) => pattern.test(assertion))?.[1];
}

/** @throws when the text is no report */
export function readPanReport(text: string): PanReport {
  const errors = /errors: (\d+)/.exec(text)?.[1];
  const states = /^\s*(\d+) states, stored/m.exec(text)?.[1];
  if (errors === undefined || states === undefined) {
    throw new Error(`The verifier did not report: ${text.slice(0, 2_000)}`);
  }
  return {
    states: Number(states),
    errors: Number(errors),
    isExhaustive: text.includes('Full statespace search') && !INCOMPLETE.test(text),
    broken: brokenIn(text),
  };
}

const SPEAKERS = /^(?:process|server|network|nemesis|clock)\b.*$/;

/**
 * The steps of a run that leads to an error, out of what spin prints when it replays it. A step that comes several times
 * in a row is one line.
 */
export function readTrail(text: string): string[] {
  const steps: { step: string; times: number }[] = [];
  for (const line of text.split('\n').map((each) => each.trim())) {
    const isCycle = line.includes('START OF CYCLE');
    if (!isCycle && !SPEAKERS.test(line)) continue;
    const step = isCycle ? 'from here on, the run repeats:' : line;
    const last = steps.at(-1);
    if (last?.step === step) last.times += 1;
    else steps.push({ step, times: 1 });
  }
  return steps.map(({ step, times }) => (times === 1 ? step : `${step} (${times} times)`));
}
