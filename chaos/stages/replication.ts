/** Whether replicas follow their primary, and have what it has. */
import type { TestServer } from '../../src/testing/index.ts';
import { infoOf } from '../../tests/harness/server-answers.ts';
import { eventually } from '../../tests/harness/wait.ts';

const IN_SYNC_WITHIN_MS = 15_000;
const POLL_MS = 20;
const ACKNOWLEDGED_WITHIN_MS = 500;

/** How much of the writes of its primary a server has; nothing when it does not answer. */
export async function offsetOf(server: TestServer): Promise<number> {
  const info = await infoOf(server, 'replication').catch(() => undefined);
  return Number(info?.get('slave_repl_offset') ?? info?.get('master_repl_offset') ?? -1);
}

async function assertListed(primary: TestServer, replicas: readonly TestServer[]): Promise<void> {
  const info = await infoOf(primary, 'replication');
  if (info?.get('role') !== 'master') throw new Error(`${primary.url} is not a primary`);
  const listed = [...info].filter(([name]) => /^slave\d+$/.test(name)).map(([, text]) => text);
  for (const { url, port } of replicas) {
    const isOnline = listed.some((text) => text.includes(`port=${port},`) && text.includes('state=online'));
    if (!isOnline) throw new Error(`${url} is not online at ${primary.url}`);
  }
}

/** Resolves when the replicas are online and acknowledge what the primary writes. */
export async function whenInSync(primary: TestServer, replicas: readonly TestServer[]): Promise<void> {
  const check = async () => {
    await assertListed(primary, replicas);
    for (const replica of replicas) {
      const info = await infoOf(replica, 'replication');
      if (info?.get('master_link_status') !== 'up')
        throw new Error(`${replica.url} has no link to its primary`);
    }
    await primary.command('SET', 'nemesis:in-sync', '', 'PX', 10);
    const acknowledged = Number(await primary.command('WAIT', replicas.length, ACKNOWLEDGED_WITHIN_MS));
    if (acknowledged < replicas.length) throw new Error(`${acknowledged} replicas answer ${primary.url}`);
  };
  await eventually(check, { withinMs: IN_SYNC_WITHIN_MS, everyMs: POLL_MS });
}
