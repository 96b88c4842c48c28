import { type FencedHold, Holdfast, NotHeldError } from 'holdfast';
import { type FaultProxy, startFaultProxy } from 'holdfast/testing';

async function main(): Promise<void> {
  const { REDIS_URL = '', LOCK_NAME = '' } = process.env;
  const { hostname, port } = new URL(REDIS_URL);
  const proxy: FaultProxy = await startFaultProxy({ host: hostname, port: Number(port) });
  await using client = await Holdfast.connect(proxy.url);
  await using rival = await Holdfast.connect(REDIS_URL);
  const hold: FencedHold = await client.getFencedLock(LOCK_NAME).lock();
  const second: FencedHold | null = await rival.getFencedLock(LOCK_NAME).tryLock();
  await hold.unlock();
  const error: unknown = await client
    .getLock(LOCK_NAME)
    .unlock()
    .catch((reason: unknown) => reason);
  if (!(error instanceof NotHeldError) || error.lockName !== LOCK_NAME) throw new Error('not refused');
  console.log(JSON.stringify({ token: hold.token, second }));
  await proxy.close();
}

void main();
