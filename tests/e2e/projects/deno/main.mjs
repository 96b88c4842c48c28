import { Holdfast } from 'holdfast';

const { REDIS_URL, LOCK_NAME } = process.env;
const client = await Holdfast.connect(REDIS_URL);
const rival = await Holdfast.connect(REDIS_URL);
const hold = await client.getFencedLock(LOCK_NAME).lock();
const second = await rival.getFencedLock(LOCK_NAME).tryLock();
await hold.unlock();
console.log(JSON.stringify({ token: hold.token, second }));
await Promise.all([client.close(), rival.close()]);
