import { describe, expect, it } from 'vitest';
import { targetOf } from '../../../src/cli/connection.ts';

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

  it.each([
    [
      { url: 'redis://a', sentinel: [{ host: 'b' }], sentinelName: 'm' },
      '--url and --sentinel exclude each other',
    ],
    [{ sentinelName: 'm' }, '--sentinel-name and --sentinel-username need --sentinel'],
    [{ cluster: [{ host: 'a' }], db: 1 }, 'A Cluster has only database 0'],
    [{ tlsCert: 'x.pem' }, '--tls-cert and --tls-key belong together'],
  ] as const)('refuses %j', (flags, message) => {
    expect(() => targetOf(flags, {})).toThrow(message);
  });
});
