/** Replicas, Sentinels and TLS in the harness: each handle does what it says. */
import { X509Certificate } from 'node:crypto';
import { connect } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { createCertificate } from './certificate.ts';
import { randomName } from './names.ts';
import { describeWithProcess } from './servers.ts';
import { ownReplicas, ownSentinels, ownTlsServer } from './topologies.ts';
import { eventually } from './wait.ts';

describeWithProcess('replicas', () => {
  it('have the data of the primary', async () => {
    const group = await ownReplicas({ args: ['--maxmemory', '50mb'] });
    await group.primary.command('SET', 'key', 'value');
    await group.whenInSync();
    expect(group.servers).toHaveLength(3);
    for (const server of group.servers) {
      expect(await server.command('GET', 'key')).toBe('value');
      expect(await server.command('CONFIG', 'GET', 'maxmemory')).toEqual(['maxmemory', '52428800']);
    }
    await expect(group.replicas[0]?.server.command('SET', 'key', 'other')).rejects.toThrow('READONLY');
    expect(() => group.replicas[0]?.link).toThrow('proxied');
  });

  it('behind a black hole miss writes, and lack them when promoted', async () => {
    const group = await ownReplicas({ proxied: true });
    const [cut, whole] = group.replicas;
    await group.primary.command('SET', 'before', 'seen');
    await group.whenInSync();
    cut?.link.blackhole();
    await group.primary.command('SET', 'after', 'lost');
    await eventually(async () => expect(await whole?.server.command('GET', 'after')).toBe('lost'));
    expect(await group.primary.command('WAIT', 2, 200)).toBe(1);
    const promoted = await group.promote(0);
    expect(promoted).toBe(cut?.server);
    expect(await promoted.command('MGET', 'before', 'after')).toEqual(['seen', null]);
    expect(await promoted.command('SET', 'after', 'own')).toBe('OK');
    expect(await group.primary.command('GET', 'after')).toBe('lost');
  });

  it('get the missed writes when their link heals', async () => {
    const group = await ownReplicas({ replicas: 1, proxied: true });
    const [replica] = group.replicas;
    replica?.link.blackhole();
    await group.primary.command('SET', 'key', 'value');
    expect(await group.primary.command('WAIT', 1, 200)).toBe(0);
    expect(await replica?.server.command('GET', 'key')).toBeNull();
    await replica?.link.heal();
    await group.whenInSync();
    expect(await replica?.server.command('GET', 'key')).toBe('value');
  });

  it('follow the promoted replica, again through their own link', async () => {
    const group = await ownReplicas({ proxied: true });
    await group.primary.kill();
    const promoted = await group.promote(0, { repoint: true });
    await promoted.command('SET', 'key', 'value');
    await group.whenInSync();
    const [, follower] = group.replicas;
    expect(await follower?.server.command('GET', 'key')).toBe('value');
    follower?.link.blackhole();
    await promoted.command('SET', 'key', 'later');
    expect(await promoted.command('WAIT', 1, 200)).toBe(0);
    expect(await follower?.server.command('GET', 'key')).toBe('value');
  });
});

describeWithProcess('sentinels', () => {
  it('know each other and the replicas, and name the primary', async () => {
    const group = await ownSentinels({ replicas: 2 });
    expect(group.addresses).toEqual(group.sentinels.map(({ host, port }) => ({ host, port })));
    expect([group.sentinels.length, group.servers.length]).toEqual([3, 3]);
    for (const sentinel of group.sentinels) {
      expect(await sentinel.command('SENTINEL', 'SENTINELS', group.name)).toHaveLength(2);
      expect(await sentinel.command('SENTINEL', 'REPLICAS', group.name)).toHaveLength(2);
      expect(await sentinel.command('SENTINEL', 'CKQUORUM', group.name)).toMatch(/^OK 3 usable/);
    }
    expect(await group.primary()).toBe(group.servers[0]);
  });

  it('fail over on request, and make the old primary a replica', async () => {
    const group = await ownSentinels();
    const [old, replica] = group.servers;
    expect(await group.failover()).toBe(replica);
    expect(await group.primary()).toBe(replica);
    for (const sentinel of group.sentinels) {
      const answer = await sentinel.command('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', group.name);
      expect(answer).toEqual([replica?.host, String(replica?.port)]);
    }
    expect(await replica?.command('SET', 'key', 'value')).toBe('OK');
    expect(await group.whenSettled()).toBe(replica);
    await expect(old?.command('SET', 'key', 'other')).rejects.toThrow('READONLY');
    expect(await group.failover()).toBe(old);
  });

  it('fail over when the primary dies, also with a sentinel less', async () => {
    const group = await ownSentinels();
    const old = await group.primary();
    const key = randomName();
    await old.command('SET', key, 'value');
    expect(await old.command('WAIT', 1, 5_000)).toBe(1);
    await group.sentinels[0]?.kill();
    await old.kill();
    const primary = await group.whenFailedOver(old);
    expect(primary).toBe(group.servers[1]);
    expect(await group.primary()).toBe(primary);
    expect(await primary.command('GET', key)).toBe('value');
    expect(await primary.command('SET', key, 'later')).toBe('OK');
    await old.restart();
    await group.whenSettled();
    await eventually(async () => expect(await old.command('GET', key)).toBe('later'));
  });

  it('fail over when the primary freezes', async () => {
    const group = await ownSentinels();
    const old = await group.primary();
    await old.pause();
    expect(await group.whenFailedOver(old)).toBe(group.servers[1]);
  });
});

describe('a certificate', () => {
  it('is valid now, for this machine, and signed by itself', () => {
    const { cert, key } = createCertificate();
    const parsed = new X509Certificate(cert);
    expect([parsed.checkHost('localhost'), parsed.checkIP('127.0.0.1')]).toEqual(['localhost', '127.0.0.1']);
    expect([parsed.checkHost('example.org'), parsed.checkIP('127.0.0.2')]).toEqual([undefined, undefined]);
    expect([parsed.ca, parsed.verify(parsed.publicKey)]).toEqual([true, true]);
    expect(parsed.checkIssued(parsed)).toBe(true);
    expect(parsed.publicKey.asymmetricKeyDetails).toEqual({ namedCurve: 'prime256v1' });
    expect(key).toContain('BEGIN PRIVATE KEY');
    expect(Date.parse(parsed.validFrom)).toBeLessThan(Date.now());
    expect(Date.parse(parsed.validTo)).toBeGreaterThan(Date.now());
    expect(new X509Certificate(createCertificate().cert).serialNumber).not.toBe(parsed.serialNumber);
  });
});

describeWithProcess('a server with TLS', () => {
  /** What the server answers to PING. */
  function ping(host: string, port: number, ca: string, servername?: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const name = servername === undefined ? {} : { servername };
      const socket = connect({ host, port, ca, ...name }, () => socket.write('PING\r\n'));
      socket.once('data', (chunk) => resolve(chunk.toString()));
      socket.once('error', reject);
      socket.once('close', () => reject(new Error('closed')));
      socket.once('data', () => socket.destroy());
    });
  }

  it('answers clients that trust its certificate, by either name, and no others', async () => {
    const { host, port, url, ca, server } = await ownTlsServer();
    expect(url).toBe(`rediss://${host}:${port}`);
    expect(await ping(host, port, ca)).toBe('+PONG\r\n');
    expect(await ping(host, port, ca, 'localhost')).toBe('+PONG\r\n');
    await expect(ping(host, port, ca, 'example.org')).rejects.toThrow('does not match');
    const another = createCertificate().cert;
    await expect(ping(host, port, another)).rejects.toMatchObject({ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
    expect(await server.command('PING')).toBe('PONG');
    expect(server.port).not.toBe(port);
  });
});
