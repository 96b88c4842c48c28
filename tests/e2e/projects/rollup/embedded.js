import { Holdfast } from 'holdfast';

async function main() {
  const client = await Holdfast.connect({ embedded: true });
  const hold = await client.getFencedLock('bundled').lock();
  console.log(JSON.stringify({ embedded: hold.token > 0 }));
  await hold.unlock();
  await client.close();
}

main().catch((error) => console.log(error.message));
