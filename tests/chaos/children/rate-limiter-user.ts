/** Takes permits, tells, and then waits for as many again: `rate-limiter-user.ts <url> <name> <permits>`. */
import { Holdfast } from '../../../src/index.ts';
import { onOrder, tell } from '../../harness/in-child.ts';

const [url = '', name = '', permits = ''] = process.argv.slice(2);
const limiter = (await Holdfast.connect(url)).getRateLimiter(name);
onOrder(() => {});
await limiter.acquire(Number(permits));
tell({ state: 'taken' });
await limiter.acquire(Number(permits));
