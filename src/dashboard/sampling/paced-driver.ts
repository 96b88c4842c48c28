/**
 * A driver that sends nothing before the budget allows it.
 */
import type { InspectedDriver } from '../../inspect/inspector.ts';
import type { CommandBudget } from './command-budget.ts';
import type { ListenedDriver } from './listeners.ts';

/** What the dashboard looks through. */
export type SampledDriver = InspectedDriver & ListenedDriver;

export function paced(driver: SampledDriver, budget: CommandBudget): SampledDriver {
  return {
    topology: driver.topology,
    nodeOf: (key) => driver.nodeOf(key),
    script: async (...call) => {
      await budget.take();
      return driver.script(...call);
    },
    scan: async function* (pattern) {
      const pages = driver.scan(pattern)[Symbol.asyncIterator]();
      for (;;) {
        await budget.take();
        const step = await pages.next();
        if (step.done === true) return;
        yield step.value;
      }
    },
  };
}
