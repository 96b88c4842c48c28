import { it } from 'vitest';
import { ownSentinels } from '../harness/topologies.ts';
import { randomName } from '../harness/names.ts';
import { infoOf } from '../harness/server-answers.ts';
import { eventually } from '../harness/wait.ts';
import { joinSentinels } from './topology-ways.ts';
import { listenTo } from './arena.ts';
import { WAYS } from './ways.ts';
it('graceful', async () => {
  const t0 = performance.now(); const at = (m: string) => console.log(Math.round(performance.now() - t0), m);
  const watched = await ownSentinels({ replicas: 1 }); at('started');
  for (const way of WAYS) {
    const c = await joinSentinels(way, watched, { watchdogMs: 5000, replicas: 0, commandTimeoutMs: 1000 });
    const ev = listenTo(c);
    const l = c.getLock(randomName()); const h = await l.lock();
    h.signal.addEventListener('abort', () => at(`${way} lost ${h.signal.reason}`));
    void (async () => { for (let i = 0; i < 200; i++) { await new Promise(r => setTimeout(r, 100)); if (ev.atRisk.length) { at(`${way} at risk ${ev.atRisk[0]?.error}`); ev.atRisk.length = 0; } } })();
  }
  const [old, repl] = watched.servers;
  void eventually(async () => (await infoOf(repl!, 'replication'))?.get('role') === 'master', {withinMs: 20000}).then(() => at('promoted'));
  const fo = watched.failover(); 
  await fo; at('failedover');
  await eventually(async () => (await infoOf(old!, 'replication'))?.get('role') === 'slave', {withinMs: 20000}); at('demoted');
  await watched.whenSettled(); at('settled');
  const o2 = await watched.primary();
  await o2.kill(); at('killed');
  await watched.whenFailedOver(o2); at('failed over');
  await new Promise(r => setTimeout(r, 3000));
}, 60000);
