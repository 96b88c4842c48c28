/**
 * Connects to a Cluster, closes the client in the moment in which it asks who has which slots, and then ends because
 * nothing is left to do: `closes-cluster.ts <addresses as JSON>`.
 */
import { Cluster } from 'ioredis';
import { Holdfast } from '../../../src/index.ts';
import { tell } from '../../harness/in-child.ts';

const cluster = JSON.parse(process.argv[2] ?? '[]') as { host: string; port: number }[];
const { refreshSlotsCache } = Cluster.prototype;
let onRefreshing = () => {};
Cluster.prototype.refreshSlotsCache = function (
  this: Cluster,
  ...args: Parameters<typeof refreshSlotsCache>
) {
  Reflect.apply(refreshSlotsCache, this, args);
  onRefreshing();
};

const client = await Holdfast.connect({ cluster });
tell({ connected: true });
// The next refresh is that of the timer. The client alone does not keep the process alive until then.
const waiting = setInterval(() => {}, 1_000);
await new Promise<void>((resolve) => {
  onRefreshing = resolve;
});
onRefreshing = () => {};
clearInterval(waiting);
await client.close();
tell({ closed: true });
