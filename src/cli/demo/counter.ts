/**
 * Scene: many tasks in several processes increment one counter with GET and SET, without a lock and with one.
 */
import { bar } from '../render/meters.ts';
import { grouped, seconds } from '../render/style.ts';
import { COUNTER_TTL_MS, type CountOrder } from './orders.ts';
import { demand, type Scene, type Stage } from './stage.ts';
import type { WorkerProcess } from './worker-process.ts';

const TASKS = 1_000;
const PROCESSES = 4;
const AT_ONCE = 10;

interface Count {
  readonly label: string;
  readonly counter: string;
  readonly lock: string | null;
}

/** Divides the tasks among the workers; resolves to the counter's final value. */
async function countTogether(stage: Stage, workers: WorkerProcess[], count: Count): Promise<number> {
  const { label, counter, lock } = count;
  await stage.redis.set(counter, 0, 'PX', COUNTER_TTL_MS);
  const startedAt = performance.now();
  const doneBy = new Map<WorkerProcess, number>();
  const done = () => [...doneBy.values()].reduce((sum, each) => sum + each, 0);
  const progress = () => `${label}  ${bar(done() / TASKS)}  ${grouped(done()).padStart(5)} tasks`;

  const order: CountOrder = { do: 'count', counter, lock, tasks: TASKS / PROCESSES, atOnce: AT_ONCE };
  await Promise.all(
    workers.map(async (worker) => {
      worker.onReport('progress', (report) => {
        doneBy.set(worker, report.done);
        stage.live(`${progress()}  ${seconds(performance.now() - startedAt)}`);
      });
      const counted = worker.next('counted');
      worker.tell(order);
      doneBy.set(worker, (await counted).done);
    }),
  );
  const tookMs = performance.now() - startedAt;
  const value = Number(await stage.redis.get(counter));
  demand(done() === TASKS, `the processes finished ${done()} of ${TASKS} tasks (${label.trim()})`);
  const colour = value === TASKS ? 'green' : 'yellow';
  const result = stage.screen.paint(colour, `counter = ${grouped(value).padStart(5)}`);
  stage.note(`${progress()}  ${result}  ${seconds(tookMs)}`);
  return value;
}

export const counter: Scene = {
  title: 'One counter',
  story: `${grouped(TASKS)} tasks in ${PROCESSES} processes add 1 to a counter: GET, then SET`,
  async play(stage) {
    stage.live(`starting ${PROCESSES} processes`);
    const workers = await Promise.all(Array.from({ length: PROCESSES }, () => stage.worker()));
    const without = await countTogether(stage, workers, {
      label: 'without a lock',
      counter: stage.name('counter:without-lock'),
      lock: null,
    });
    const under = await countTogether(stage, workers, {
      label: 'under one lock',
      counter: stage.name('counter:with-lock'),
      lock: stage.name('counter-lock'),
    });
    demand(under === TASKS, `under the lock the counter is ${under}, not ${TASKS}`);
    demand(without < TASKS, 'without a lock no update was lost, so the scene shows nothing');
    return [
      { label: 'under one lock', value: `${grouped(under)} of ${grouped(TASKS)}` },
      {
        label: 'without a lock',
        value: `${grouped(without)} of ${grouped(TASKS)}, ${grouped(TASKS - without)} updates lost`,
      },
    ];
  },
};
