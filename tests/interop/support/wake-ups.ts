/** How long waiters took to be woken in one test file. For people: what the tests demand is in `moments.ts`. */
const wakeUps: number[] = [];

export function noteWakeUp(tookMs: number): void {
  wakeUps.push(tookMs);
}

/** The median in milliseconds, and of how many. */
export function wakeUpMedian(): { medianMs: number; count: number } {
  const sorted = [...wakeUps].sort((a, b) => a - b);
  return { medianMs: Math.round(sorted[Math.floor(sorted.length / 2)] ?? 0), count: sorted.length };
}
