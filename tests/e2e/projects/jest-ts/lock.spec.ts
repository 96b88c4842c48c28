import { type FencedHold, Holdfast, NotHeldError } from 'holdfast';
import { startFaultProxy } from 'holdfast/testing';

const { REDIS_URL = '', LOCK_NAME = '' } = process.env;

test('takes a lock, through the proxy of the test kit', async () => {
  const { hostname, port } = new URL(REDIS_URL);
  const proxy = await startFaultProxy({ host: hostname, port: Number(port) });
  const client = await Holdfast.connect(proxy.url);
  const rival = await Holdfast.connect(REDIS_URL);
  const hold: FencedHold = await client.getFencedLock(LOCK_NAME).lock();
  expect(hold.token).toBeGreaterThan(0);
  expect(await rival.getFencedLock(LOCK_NAME).tryLock()).toBeNull();
  await hold.unlock();
  await expect(client.getLock(LOCK_NAME).unlock()).rejects.toBeInstanceOf(NotHeldError);
  await Promise.all([client.close(), rival.close()]);
  await proxy.close();
});
