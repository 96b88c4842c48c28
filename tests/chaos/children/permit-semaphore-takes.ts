/** Takes permits, tells their ids, and waits for more than there are when it is told to: `<settings as JSON>`. */
import { Holdfast } from '../../../src/index.ts';
import { onOrder, tell } from '../../harness/in-child.ts';

export interface TakesSettings {
  readonly url: string;
  readonly name: string;
  readonly watchdogMs: number;
  readonly count: number;
}

const { url, name, watchdogMs, count } = JSON.parse(process.argv[2] as string) as TakesSettings;
const client = await Holdfast.connect(url, { watchdogMs });
const semaphore = client.getPermitExpirableSemaphore(name);
if (count > 0) {
  const permits = await semaphore.acquireMany(count);
  tell({ ids: permits.map(({ id }) => id) });
} else {
  void semaphore.acquire().then(({ id }) => tell({ ids: [id] }));
}
onOrder(() => {});
