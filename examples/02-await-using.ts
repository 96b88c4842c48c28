/**
 * A hold is released at the end of its block, also when the block throws.
 */
import { Holdfast } from 'holdfast';
import { redisUrl } from './redis-url.ts';

await using client = await Holdfast.connect(redisUrl);
const lock = client.getLock('example:import');

async function importFile(name: string): Promise<void> {
  await using hold = await lock.lock();
  console.log(`Importing ${name}, held by this client: ${hold.owner.startsWith(client.id)}.`);
  if (name.endsWith('.broken')) throw new Error(`${name} cannot be read`);
}

await importFile('a.csv');
await importFile('b.broken').catch((error: Error) => console.log(`Failed: ${error.message}.`));
console.log(`Is the lock still held? ${(await lock.isLocked()) ? 'Yes' : 'No'}.`);
