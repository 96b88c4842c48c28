/**
 * What every driver must do where Sentinels watch over the servers, on real ones: a primary and a replica of
 * a test's own that fail over. What holds for one server too is in `driver-contract.ts`.
 */

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it, onTestFinished } from 'vitest';
import { SystemClock } from '../../../src/clock.ts';
import { withCallTimeout } from '../../../src/drivers/call-timeout.ts';
import type { Connection, Driver } from '../../../src/drivers/driver.ts';
import { findFreePort } from '../../../src/embedded/free-port.ts';
import type { TestServer } from '../../../src/testing/server.ts';
import { createCertificate } from '../../harness/certificate.ts';
import { randomName } from '../../harness/names.ts';
import { evalOn } from '../../harness/script-calls.ts';
import type { TestSentinels } from '../../harness/sentinels.ts';
import { describeWithProcess } from '../../harness/servers.ts';
import { ownSentinels } from '../../harness/topologies.ts';
import { eventually } from '../../harness/wait.ts';
import { failure, Listener } from './driver-contract.ts';

/** How a test wants its client connected. */
export interface SentinelSettings {
  readonly name: string;
  /** Of the Sentinels, on 127.0.0.1. */
  readonly ports: readonly number[];
  readonly username?: string;
  readonly password?: string;
  /** Where the server speaks TLS instead of on the port the Sentinels name, and what to trust; PEM. */
  readonly tls?: { readonly ca: string; readonly insteadOf: number; readonly port: number };
}

export interface SentinelContext {
  readonly title: string;
  connect(settings: SentinelSettings): Promise<{ readonly driver: Driver; close(): Promise<void> }>;
}

/** The port of the server that runs it. */
const PORT = "return tonumber(string.match(redis.call('info', 'server'), 'tcp_port:(%d+)'))";
const COUNT = "return redis.call('incr', KEYS[1])";
const FAILOVER_MS = 60_000;
const WITHIN = { withinMs: 20_000 };

export function describeSentinelDriver(context: SentinelContext): void {
  describeWithProcess(`Sentinel contract: ${context.title}`, () => {
    const closers: (() => Promise<unknown>)[] = [];

    afterEach(async () => {
      for (const close of closers.splice(0).reverse()) await close();
    });

    async function connect(watched: TestSentinels): Promise<Driver> {
      const ports = watched.sentinels.map(({ port }) => port);
      const { driver, close } = await context.connect({ name: watched.name, ports });
      closers.push(close);
      return withCallTimeout(driver, new SystemClock(), 1_000);
    }

    async function open(driver: Driver): Promise<{ connection: Connection; listener: Listener }> {
      const listener = new Listener();
      const connection = await driver.openConnection('', listener);
      closers.push(async () => connection.destroy());
      return { connection, listener };
    }

    /** Waits until scripts and new connections have found the primary. */
    async function follow(driver: Driver, primary: TestServer): Promise<void> {
      const key = randomName();
      await eventually(async () => {
        expect(await evalOn(driver, `${COUNT.replace('return ', '')} ${PORT}`, [key], [])).toBe(primary.port);
      }, WITHIN);
      const { connection, listener } = await eventually(async () => {
        const opened = await open(driver);
        expect(await opened.connection.send(['EVAL', PORT, '0'])).toBe(primary.port);
        return opened;
      }, WITHIN);
      await connection.subscribe(key, 'plain');
      expect(await primary.command('PUBLISH', key, 'wake')).toBe(1);
      await expect.poll(() => listener.messages).toEqual([`${key}=wake`]);
      await connection.ping();
      expect(listener.downs).toEqual([]);
    }

    it('speaks to the primary', async () => {
      const watched = await ownSentinels();
      const driver = await connect(watched);
      expect([driver.topology, driver.nodeOf('any'), driver.nodes()]).toEqual(['sentinel', '', ['']]);
      await follow(driver, await watched.primary());
    });

    it(
      'follows a failover on request, and reports the old connections as broken',
      async () => {
        const watched = await ownSentinels();
        const driver = await connect(watched);
        const key = randomName();
        expect(await evalOn(driver, COUNT, [key], [])).toBe(1);
        const { connection, listener } = await open(driver);
        await connection.subscribe(key, 'plain');
        // A failover that overtakes a write loses it.
        for (const server of watched.servers) await expect.poll(() => server.command('GET', key)).toBe('1');
        await follow(driver, await watched.failover());
        await eventually(() => expect(listener.downs).toHaveLength(1), WITHIN);
        await failure(connection.ping());
        expect(await evalOn(driver, COUNT, [key], [])).toBe(2);
        // And back again.
        await watched.whenSettled();
        await follow(driver, await watched.failover());
      },
      FAILOVER_MS,
    );

    it(
      'follows when the primary was killed',
      async () => {
        const watched = await ownSentinels();
        const driver = await connect(watched);
        const { connection, listener } = await open(driver);
        const former = await watched.primary();
        await former.kill();
        await expect.poll(() => listener.downs).toHaveLength(1);
        await failure(connection.ping());
        // Commands while there is no primary do not spoil what follows.
        await Promise.allSettled(Array.from({ length: 5 }, () => evalOn(driver, COUNT, ['early'], [])));
        await follow(driver, await watched.whenFailedOver(former));
        expect(listener.downs).toHaveLength(1);
      },
      FAILOVER_MS,
    );

    it(
      'reports a connection to a former primary that has not noticed',
      async () => {
        const watched = await ownSentinels();
        const driver = await connect(watched);
        const { connection, listener } = await open(driver);
        const former = await watched.primary();
        await former.pause();
        await follow(driver, await watched.whenFailedOver(former));
        // With all Sentinels frozen in turn, the former primary goes on as before.
        await Promise.all(watched.sentinels.map((sentinel) => sentinel.pause()));
        // A client that asks a frozen Sentinel as it closes would not end.
        closers.push(() => Promise.all(watched.sentinels.map((sentinel) => sentinel.resume())));
        await former.resume();
        await eventually(async () => {
          await failure(connection.ping());
          expect(listener.downs).toHaveLength(1);
        });
        expect(String(await former.command('INFO', 'replication'))).toContain('role:master');
      },
      FAILOVER_MS,
    );

    it('inherits TLS, the user and a changed address for its own connections', async () => {
      const { cert, key } = createCertificate();
      const dir = await mkdtemp(join(tmpdir(), 'holdfast-tls-'));
      onTestFinished(() => rm(dir, { recursive: true, force: true }));
      const [certFile, keyFile] = [join(dir, 'cert.pem'), join(dir, 'key.pem')];
      await writeFile(certFile, cert);
      await writeFile(keyFile, key, { mode: 0o600 });
      const port = await findFreePort();
      const files = ['--tls-cert-file', certFile, '--tls-key-file', keyFile, '--tls-ca-cert-file', certFile];
      const args = ['--tls-port', String(port), ...files, '--tls-auth-clients', 'no'];
      const watched = await ownSentinels({ sentinels: 1, replicas: 0, args });
      const server = await watched.primary();
      await server.command('ACL', 'SETUSER', 'alice', 'on', '>wonderland', '~*', '&*', '+@all');
      const { driver, close } = await context.connect({
        name: watched.name,
        ports: watched.sentinels.map((sentinel) => sentinel.port),
        username: 'alice',
        password: 'wonderland',
        tls: { ca: cert, insteadOf: server.port, port },
      });
      closers.push(close);
      expect(await evalOn(driver, COUNT, [dir], [])).toBe(1);
      const { connection, listener } = await open(driver);
      await connection.subscribe(dir, 'plain');
      await connection.ping();
      const list = String(await server.command('CLIENT', 'LIST', 'TYPE', 'pubsub'));
      expect(list).toMatch(new RegExp(` laddr=127\\.0\\.0\\.1:${port} .* user=alice `));
      expect(await server.command('PUBLISH', dir, 'wake')).toBe(1);
      await expect.poll(() => listener.messages).toEqual([`${dir}=wake`]);
      expect(listener.downs).toEqual([]);
    });
  });
}
