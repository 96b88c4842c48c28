/**
 * Three workers add to one balance. Reading and writing it takes a moment, and no addition is lost.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Holdfast } from 'holdfast';
import { redisUrl } from './redis-url.ts';

await using client = await Holdfast.connect(redisUrl);
const lock = client.getLock('example:balance');
let balance = 0;

async function deposit(worker: string, amount: number): Promise<void> {
  await lock.withLock(async () => {
    const before = balance;
    await sleep(20);
    balance = before + amount;
    console.log(`${worker}: ${before} + ${amount} = ${balance}`);
  });
}

await Promise.all([deposit('Ann', 10), deposit('Ben', 20), deposit('Cem', 30)]);
console.log(`The balance is ${balance}.`);
