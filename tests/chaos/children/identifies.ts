/** Tells the ids of a few clients, in the main thread and in a worker thread. */
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { Redis } from 'ioredis';
import { Holdfast } from '../../../src/index.ts';
import { onOrder, tell } from '../../harness/in-child.ts';

const ids = Array.from({ length: 5 }, () => Holdfast.from(new Redis({ lazyConnect: true })).id);

if (isMainThread) {
  tell({ ids });
  // A worker does not inherit the loader for TypeScript.
  const loader = JSON.stringify(import.meta.resolve('tsx/esm/api'));
  const self = JSON.stringify(import.meta.url);
  const source = `import(${loader}).then(({ register }) => { register(); return import(${self}); })`;
  const worker = new Worker(source, { eval: true });
  worker.once('message', (found: string[]) => tell({ thread: worker.threadId, ids: found }));
  onOrder(() => {});
} else {
  parentPort?.postMessage(ids);
}
