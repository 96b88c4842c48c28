import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { targetOf } from '../../../src/cli/connection.ts';

/** A file with this text, as flags name it. */
function fileWith(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-pem-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'file.pem');
  writeFileSync(file, text);
  return file;
}

describe('targetOf', () => {
  it('prefers flags to the environment, and that to the default', () => {
    expect(targetOf({ url: 'redis://a' }, { HOLDFAST_URL: 'redis://b' })).toMatchObject({ url: 'redis://a' });
    expect(targetOf({}, { HOLDFAST_URL: 'redis://b' })).toMatchObject({ url: 'redis://b' });
    expect(targetOf({}, { HOLDFAST_URL: '' })).toMatchObject({ url: 'redis://127.0.0.1:6379' });
    expect(targetOf({ cluster: [{ host: 'c' }] }, { HOLDFAST_URL: 'redis://b' })).toEqual({
      cluster: [{ host: 'c' }],
    });
  });

  it('takes the password from the environment only', () => {
    expect(targetOf({ username: 'ops' }, { HOLDFAST_PASSWORD: 'p' })).toMatchObject({
      username: 'ops',
      password: 'p',
    });
    const env = { HOLDFAST_PASSWORD: 'p', HOLDFAST_SENTINEL_PASSWORD: 's' };
    expect(targetOf({ sentinel: [{ host: 'a' }], sentinelName: 'm' }, env)).toMatchObject({
      sentinels: [{ host: 'a' }],
      name: 'm',
      password: 'p',
      sentinelPassword: 's',
    });
  });

  it('takes TLS as a switch, or reads its files', () => {
    const files = { tlsCa: fileWith('CA'), tlsCert: fileWith('CERT'), tlsKey: fileWith('KEY') };
    const { tlsCert, tlsKey } = files;
    expect(targetOf({}, {})).not.toHaveProperty('tls');
    expect(targetOf({ tls: true }, {})).toMatchObject({ tls: true });
    expect(targetOf({ tls: true, ...files }, {})).toMatchObject({
      tls: { ca: 'CA', cert: 'CERT', key: 'KEY' },
    });
    // A certificate of the client, with the authorities of Node.js.
    expect(targetOf({ tlsCert, tlsKey }, {})).toMatchObject({ tls: { cert: 'CERT', key: 'KEY' } });
    expect(targetOf({ cluster: [{ host: 'c' }], tls: true }, {})).toEqual({
      cluster: [{ host: 'c' }],
      tls: true,
    });
  });

  it('speaks TLS to the Sentinels only where that is said, with the same files', () => {
    const sentinels = { sentinel: [{ host: 'a' }], sentinelName: 'm' };
    expect(targetOf({ ...sentinels, tls: true }, {})).toMatchObject({ tls: true, sentinelTls: undefined });
    const plain = targetOf({ ...sentinels, sentinelTls: true }, {});
    expect(plain).toMatchObject({ sentinelTls: true });
    expect(plain).not.toHaveProperty('tls');
    expect(targetOf({ ...sentinels, sentinelTls: true, tlsCa: fileWith('CA') }, {})).toMatchObject({
      tls: { ca: 'CA' },
      sentinelTls: { ca: 'CA' },
    });
  });

  it('logs in at the Sentinels with their own user', () => {
    const flags = {
      sentinel: [{ host: 'a' }],
      sentinelName: 'm',
      username: 'shop',
      sentinelUsername: 'watch',
    };
    expect(targetOf(flags, { HOLDFAST_SENTINEL_PASSWORD: 's' })).toMatchObject({
      username: 'shop',
      sentinelUsername: 'watch',
      sentinelPassword: 's',
    });
  });

  it('chooses the database where there are several', () => {
    expect(targetOf({ url: 'redis://a/1', db: 2 }, {})).toMatchObject({ db: 2 });
    expect(targetOf({ sentinel: [{ host: 'a' }], sentinelName: 'm', db: 2 }, {})).toMatchObject({ db: 2 });
    expect(targetOf({ cluster: [{ host: 'c' }], db: 0 }, {})).toEqual({ cluster: [{ host: 'c' }] });
  });

  it.each([
    [
      { url: 'redis://a', sentinel: [{ host: 'b' }], sentinelName: 'm' },
      '--url and --sentinel exclude each other',
    ],
    [{ sentinelName: 'm' }, '--sentinel-name, --sentinel-username and --sentinel-tls need --sentinel'],
    [{ cluster: [{ host: 'a' }], db: 1 }, 'A Cluster has only database 0'],
    [{ sentinelTls: true }, '--sentinel-name, --sentinel-username and --sentinel-tls need --sentinel'],
    [{ sentinel: [{ host: 'a' }] }, '--sentinel needs --sentinel-name'],
    [{ tlsKey: 'x.pem' }, '--tls-cert and --tls-key belong together'],
    [{ tlsCert: 'x.pem' }, '--tls-cert and --tls-key belong together'],
  ] as const)('refuses %j', (flags, message) => {
    expect(() => targetOf(flags, {})).toThrow(message);
  });
});
