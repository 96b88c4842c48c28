/**
 * A worker stalls past its lease and writes late. The register refuses: it has seen the next worker's token.
 */
import { Holdfast, StaleTokenError } from 'holdfast';
import { redisUrl } from './redis-url.ts';

await using slow = await Holdfast.connect(redisUrl);
await using next = await Holdfast.connect(redisUrl);
const NAME = 'example:stock';

const hold = await slow.getFencedLock(NAME).lock({ leaseMs: 500 });
await slow.getFencedRegister(NAME).write('100', hold.token);
console.log('The slow worker finds 100 pieces, and stalls.');

// Waits until the lease of the slow worker is over.
await next.getFencedLock(NAME).withLock(async ({ token }) => {
  const stock = next.getFencedRegister(NAME);
  // Shows the token before reading: from here on no older token can write.
  const before = Number((await stock.read(token))?.value);
  await stock.write(String(before - 10), token);
  console.log(`The next worker takes 10 of ${before}.`);
});

try {
  await slow.getFencedRegister(NAME).write('99', hold.token);
} catch (error) {
  if (!(error instanceof StaleTokenError)) throw error;
  console.log(`The slow worker writes 99, late: ${error.code}.`);
}
console.log(`In stock: ${(await next.getFencedRegister(NAME).read())?.value}.`);
