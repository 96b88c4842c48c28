import { expect, it } from 'vitest';
import { randomName } from '../harness/names.ts';
import { eventually } from '../harness/wait.ts';
import { throughIoredis, throughIoredisCluster, throughNodeRedis, throughNodeRedisCluster } from './context.ts';
import { rejection, whenAborted } from './moments.ts';
import { openRaw, sharedCluster, openShared } from '../harness/servers.ts';

for (const context of [throughNodeRedisCluster, throughIoredisCluster, throughNodeRedis, throughIoredis]) {
  for (const flush of [true, false])
  it(`${context.title} ${flush}`, async () => {
    const raws = context.topology === 'cluster' ? await Promise.all((await sharedCluster()).addresses.map((a) => openRaw(a.host, a.port))) : [await openShared()];
    let bad = 0; const msgs = new Map<string, number>();
    for (let i = 0; i < 100; i++) {
      const client = await context.client();
      const name = randomName();
      const order: string[] = [];
      let first: unknown;
      const robbed = rejection(client.locks.request(name, async (lock) => { first = lock; await whenAborted(lock.signal); }));
      await eventually(() => first !== undefined);
      const waiting = client.locks.request(name, () => order.push('waited')).catch((e: unknown) => { msgs.set(String(e).replace(name,''), (msgs.get(String(e).replace(name,'')) ?? 0) + 1); bad++; });
      await eventually(async () => (await client.locks.query()).pending.length === 1);
      if (flush) { for (const raw of raws) await raw.command('SCRIPT', 'FLUSH'); await client.locks.request('{'+name+'}:x', () => client.locks.request('{'+name+'}:x', {ifAvailable: true}, () => 1)); }
      await client.locks.request(name, { steal: true }, () => order.push('stole')).catch((e: unknown) => { const m = 'S ' + String(e).replace(name,''); msgs.set(m, (msgs.get(m) ?? 0) + 1); bad++; });
      await robbed;
      await waiting;
      const o = order.join(); msgs.set(o, (msgs.get(o) ?? 0) + 1);
      await client.close();
    }
    console.log(context.title, flush, msgs);
    expect(true).toBe(true);
  }, 120_000);
}
