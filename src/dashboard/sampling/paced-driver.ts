/**
 * A driver that sends nothing before the budget allows it.
 */
import type { InspectedDriver } from '../../inspect/inspector.ts';
import type { CommandBudget } from './command-budget.ts';

export function paced(driver: InspectedDriver, budget: CommandBudget): InspectedDriver {
  return {
    topology: driver.topology,
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
