/**
 * Pages of a shop read a price list together; the office changes it when no page reads it.
 */
import { Holdfast } from 'holdfast';
import { redisUrl } from './redis-url.ts';

await using shop = await Holdfast.connect(redisUrl);
await using office = await Holdfast.connect(redisUrl);
const NAME = 'example:prices';
let price = 10;

const onePage = await shop.getReadWriteLock(NAME).readLock().lock();
const anotherPage = await shop.getReadWriteLock(NAME).readLock().lock();
console.log('Two pages read at once.');

const prices = office.getReadWriteLock(NAME, { prefer: 'writer' });
const atOnce = await prices.writeLock().tryLock();
console.log(`The office, meanwhile: ${atOnce === null ? 'has to wait' : 'writes'}.`);

const changed = prices.writeLock().withLock(() => {
  price = 12;
});
console.log(`While the pages are read, the price stays ${price}.`);
await onePage.unlock();
await anotherPage.unlock();
await changed;

await shop
  .getReadWriteLock(NAME)
  .readLock()
  .withLock(() => console.log(`The next page shows ${price}.`));
