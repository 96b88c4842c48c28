/** Clients of ioredis and iovalkey that Sentinels tell where the primary is, and connections of ours that they tell. */

import { describe, expect, it, onTestFinished } from 'vitest';
import { SystemClock } from '../../../src/clock.ts';
import { withCallTimeout } from '../../../src/drivers/call-timeout.ts';
import type { Driver } from '../../../src/drivers/driver.ts';
import type { TestServer } from '../../../src/testing/index.ts';
import { evalOn } from '../../harness/script-calls.ts';
import { describeWithProcess } from '../../harness/servers.ts';
import { ownSentinels, ownTlsSentinel } from '../../harness/topologies.ts';
import { eventually } from '../../harness/wait.ts';
import { type ClientSettings, type ConnectedClient, describeDriver, Listener } from './driver-contract.ts';

type Settings = Omit<ClientSettings, 'port' | 'sentinel'>;
export type Sentinels = { name: string; sentinels: { host: string; port: number }[] };

/** The settings in the words of these libraries. */
export function sentinelOptions(at: Sentinels, { ca, ...settings }: Settings) {
  return { ...at, ...settings, ...(ca !== undefined && { tls: { ca }, enableTLSForSentinelMode: true }) };
}

const PORT = "return tonumber(string.match(redis.call('info', 'server'), 'tcp_port:(%d+)'))";
const WRITE = "return redis.call('incr', KEYS[1])";

export interface SentinelClients {
  readonly title: string;
  readonly hasKeyPrefix: boolean;
  connect(at: Sentinels, settings: Settings): Promise<ConnectedClient>;
}

export function describeSentinelClients({ title, hasKeyPrefix, connect }: SentinelClients): void {
  describe(`${title} with Sentinels`, () => {
    describeDriver({
      title: `${title} with a Sentinel`,
      hasKeyPrefix,
      topology: 'sentinel',
      connect: ({ sentinel, port: _, ...settings }) =>
        connect(
          { name: sentinel?.name ?? '', sentinels: [{ host: '127.0.0.1', port: sentinel?.port ?? 0 }] },
          settings,
        ),
    });

    describeWithProcess('TLS', () => {
      it('is used for the primary that the Sentinels name, also by its own connections', async () => {
        const { name, addresses, server, port, ca } = await ownTlsSentinel();
        await server.command('ACL', 'SETUSER', 'alice', 'on', '>wonderland', '~*', '&*', '+@all');
        const login = { username: 'alice', password: 'wonderland' };
        const { driver, close } = await connect({ name, sentinels: [...addresses] }, { ca, ...login });
        onTestFinished(close);
        expect(await evalOn(driver, WRITE, ['k'], [])).toBe(1);
        const listener = new Listener();
        const connection = await driver.openConnection('', listener);
        onTestFinished(() => connection.destroy());
        await connection.subscribe('channel', 'plain');
        const list = String(await server.command('CLIENT', 'LIST', 'TYPE', 'pubsub'));
        expect(list).toMatch(new RegExp(` laddr=127\\.0\\.0\\.1:${port} .* user=alice `));
        expect(await server.command('PUBLISH', 'channel', 'wake')).toBe(1);
        await expect.poll(() => listener.messages).toEqual(['channel=wake']);
        expect(listener.downs).toEqual([]);
      });
    });

    describeWithProcess('a failover', () => {
      /** Scripts, and connections opened from now on, go to this primary; the one that was open says that it broke. */
      async function expectAt(driver: Driver, primary: TestServer): Promise<void> {
        const bounded = withCallTimeout(driver, new SystemClock(), 1_000);
        await eventually(async () => expect(await evalOn(bounded, PORT, [], [])).toBe(primary.port), {
          withinMs: 15_000,
        });
        await eventually(() => evalOn(bounded, WRITE, ['k'], []), { withinMs: 15_000 });
        const connection = await bounded.openConnection('', new Listener());
        expect(await connection.send(['EVAL', PORT, '0'])).toBe(primary.port);
        connection.destroy();
      }

      it('is followed by scripts and by new connections, and breaks the old ones', async () => {
        const watched = await ownSentinels();
        const { driver, close } = await connect({ name: watched.name, sentinels: watched.addresses }, {});
        onTestFinished(close);
        expect(driver.topology).toBe('sentinel');
        await expectAt(driver, await watched.primary());
        const listener = new Listener();
        const connection = await driver.openConnection('', listener);
        onTestFinished(() => connection.destroy());
        await connection.subscribe('channel', 'plain');
        const second = await watched.failover();
        await expectAt(driver, second);
        await eventually(() => expect(listener.downs).toHaveLength(1), { withinMs: 15_000 });
        await watched.whenSettled();
        await second.kill();
        await expectAt(driver, await watched.whenFailedOver(second));
      }, 60_000);
    });
  });
}
