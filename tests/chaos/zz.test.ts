import { expect, it } from 'vitest';
import { arena, join, aborted, seen } from './arena.ts';
import { LOCK } from './kinds.ts';
it('short', async () => {
  const { proxy } = await arena();
  const client = await join('Holdfast.connect', proxy, { watchdogMs: 900 });
  const t = performance.now();
  const hold = await client.getLock('x').lock();
  const r = await Promise.race([aborted(hold.signal).then((s) => ['lost', s]), (async () => { const ts=[]; for (let i=0;i<6;i++) { await seen(proxy, LOCK.requests.renew); ts.push(performance.now()-t);} return ['ok', ts]; })()]);
  console.log(JSON.stringify(r), performance.now()-t);
});
