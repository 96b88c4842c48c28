/** How often a model is tried, each time with other commands. */
import { inject } from 'vitest';

/** The number for a thorough project; the default tier makes do with a quarter. */
export function runs(many: number): number {
  return inject('modelRuns') === 'many' ? many : Math.ceil(many / 4);
}
