import { Holdfast, NotHeldError } from 'holdfast';

const { REDIS_URL, LOCK_NAME } = process.env;

test('takes a lock', async () => {
  const client = await Holdfast.connect(REDIS_URL);
  const rival = await Holdfast.connect(REDIS_URL);
  const hold = await client.getFencedLock(LOCK_NAME).lock();
  expect(hold.token).toBeGreaterThan(0);
  expect(await rival.getFencedLock(LOCK_NAME).tryLock()).toBeNull();
  await hold.unlock();
  await expect(client.getLock(LOCK_NAME).unlock()).rejects.toBeInstanceOf(NotHeldError);
  await Promise.all([client.close(), rival.close()]);
});

test('takes a lock on the embedded server', async () => {
  const client = await Holdfast.connect({ embedded: true });
  expect(await client.getFencedLock('embedded').withLock(({ token }) => token)).toBeGreaterThan(0);
  await client.close();
});
