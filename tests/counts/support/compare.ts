/**
 * Compares what was counted with the budget, and says what to do about a difference.
 */

/** What was counted, by title. A figure that is not there is 0. */
export type Figures = Readonly<Record<string, number>>;

/** A bound for what differs between versions of Node.js. */
export interface AtMost {
  readonly atMost: number;
}

/** What may be spent, by title; a number is exact. */
export type Budget = Readonly<Record<string, number | AtMost>>;

function judge(title: string, allowed: number | AtMost, counted: number): string | undefined {
  if (typeof allowed === 'object') {
    return counted > allowed.atMost
      ? `${title} grew: ${counted}, and at most ${allowed.atMost} is allowed`
      : undefined;
  }
  if (counted > allowed) return `${title} grew from ${allowed} to ${counted}`;
  if (counted < allowed)
    return `${title} shrank from ${allowed} to ${counted}: write that down, so that it stays`;
  return undefined;
}

/** A sentence for each figure that is not what the budget says; none when all are. */
export function differences(scene: string, budget: Budget, counted: Figures): string[] {
  const titles = [...new Set([...Object.keys(budget), ...Object.keys(counted)])];
  return titles
    .map((title) => judge(title, budget[title] ?? 0, counted[title] ?? 0))
    .filter((difference) => difference !== undefined)
    .map((difference) => `${scene}: ${difference}`);
}
