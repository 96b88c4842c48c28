/** Every way to say where to connect: what is meant, or what would have been right. */
import { describe, expect, it } from 'vitest';
import { OptionError } from '../../../src/errors.ts';
import { checkTarget } from '../../../src/options/target.ts';

const nodes = [{ host: '10.0.0.1', port: 7000 }, { host: '10.0.0.2' }];
const master = { host: '10.0.0.1', port: 6379, password: 'secret' };
const replicas = [{ url: 'redis://10.0.0.2:6379' }, { host: '10.0.0.1', port: 6380 }];

function refusal(target: unknown): string {
  try {
    checkTarget(target);
  } catch (error) {
    expect(error).toBeInstanceOf(OptionError);
    return (error as Error).message;
  }
  return expect.unreachable('it was accepted');
}

describe('where to connect', () => {
  it.each([
    ['redis://host:1/2', { kind: 'server', server: { url: 'redis://host:1/2' } }],
    [{}, { kind: 'server', server: {} }],
    [
      {
        host: 'h',
        port: 1,
        username: 'u',
        password: 'p',
        tls: true,
        db: 2,
        embedded: false,
        sentinels: undefined,
      },
      { kind: 'server', server: { host: 'h', port: 1, username: 'u', password: 'p', tls: true, db: 2 } },
    ],
    [{ embedded: true }, { kind: 'embedded' }],
    [
      { sentinels: nodes, name: 'orders', sentinelPassword: 'p', sentinelTls: { ca: 'x' }, db: 3 },
      {
        kind: 'sentinel',
        target: { sentinels: nodes, name: 'orders', sentinelPassword: 'p', sentinelTls: { ca: 'x' }, db: 3 },
      },
    ],
    [
      { cluster: nodes, db: 0, tls: false },
      { kind: 'cluster', target: { cluster: nodes, db: 0, tls: false } },
    ],
    [
      { master, replicas },
      { kind: 'fixed', server: master, expectedReplicas: 2 },
    ],
  ])('takes %j', (target, destination) => {
    expect(checkTarget(target)).toEqual(destination);
  });

  it('takes a natMap in either shape', () => {
    for (const natMap of [{ 'a:1': { host: 'b', port: 2 } }, () => null]) {
      expect(checkTarget({ cluster: nodes, natMap })).toMatchObject({ target: { natMap } });
    }
  });

  it.each([
    [{ cluster: nodes, sentinels: nodes, name: 'x' }, 'both sentinels and cluster'],
    [{ cluster: nodes, master, replicas }, 'both cluster and master'],
    [{ embedded: true, cluster: nodes }, 'both cluster and embedded'],
    [{ embedded: true, url: 'redis://host' }, 'Unknown option "url"'],
    [{ embedded: 1 }, 'embedded must be true or left out, not 1'],
    [{ name: 'orders' }, 'name requires sentinels: { sentinels: [{ host, port }]'],
    [{ cluster: nodes, name: 'orders' }, 'name requires sentinels'],
    [{ url: 'redis://host', sentinelPassword: 'x' }, 'sentinelPassword requires sentinels'],
    [{ sentinels: nodes, name: 'x', natMap: {} }, 'natMap requires cluster'],
    [{ url: 'redis://host', replicas }, 'replicas requires master'],
    [{ sentinels: nodes }, "name must be the primary's name at the Sentinels"],
    [{ sentinels: nodes, name: '' }, 'name must be a non-empty string'],
    [{ sentinels: [], name: 'x' }, 'sentinels must be a list of { host, port }, not an empty list'],
    [{ sentinels: { host: 'x' }, name: 'x' }, 'sentinels must be a list'],
    [{ sentinels: ['host:26379'], name: 'x' }, 'sentinels must be a list of { host, port }'],
    [{ sentinels: [{ port: 26379 }], name: 'x' }, 'Every element of sentinels must have a host'],
    [{ sentinels: nodes, name: 'x', url: 'redis://host' }, 'Unknown option "url"'],
    [{ cluster: [] }, 'cluster must be a list of { host, port }, not an empty list'],
    [{ cluster: true }, 'cluster must be a list'],
    [{ cluster: [null] }, 'cluster must be a list'],
    [{ cluster: [{ host: 'x', port: 70_000 }] }, 'port must be a whole number from 1 to 65535'],
    [{ cluster: [{ host: 'x', path: '/' }] }, 'Unknown option "path"; the options here are host, port'],
    [{ cluster: nodes, db: 1 }, 'db must be 0 in a Cluster, not 1'],
    [{ cluster: nodes, natMap: 'x' }, 'natMap must be an object or a function'],
    [{ cluster: nodes, tls: 'yes' }, 'tls must be true, false or the options of tls.connect'],
    [{ master }, 'A target with master must list its replicas'],
    [{ master, replicas: [] }, 'replicas must be a list of { host, port }, not an empty list'],
    [{ master: 'redis://host', replicas }, 'Options must be an object, not "redis://host"'],
    [{ master: { url: 'http://host' }, replicas }, 'expected redis:// or rediss://'],
    [{ master, replicas: [{ url: 'nonsense' }] }, 'The url is not a valid URL'],
    [{ master, replicas: [{ host: '10.0.0.1' }] }, '10.0.0.1:6379 is listed twice'],
    [{ master, replicas: [...replicas, replicas[0]] }, '10.0.0.2:6379 is listed twice'],
    [{ master, replicas, password: 'x' }, 'Unknown option "password"'],
    [
      { url: 'redis://host', hostname: 'typo' },
      'Unknown option "hostname"; the options here are url, host, port',
    ],
    [{ url: '' }, 'url must be a non-empty string'],
    ['', 'url must be a non-empty string'],
    ['127.0.0.1:6379', 'url'],
    [{ port: 0 }, 'port must be a whole number from 1 to 65535, not 0'],
    [{ port: '6379' }, 'port must be a whole number'],
    [{ db: -1 }, 'db must be a whole number'],
    [{ password: 5 }, 'password must be a non-empty string'],
    [{ tls: 1 }, 'tls must be true, false'],
    [undefined, 'must be a URL or an object, not undefined'],
    [null, 'must be a URL or an object, not null'],
    [5, 'must be a URL or an object, not 5'],
  ])('refuses %j', (target, message) => {
    expect(refusal(target)).toContain(message);
  });

  it('does not repeat a password', () => {
    expect(refusal({ master, replicas: [{ ...master, url: 'redis://me:secret@' }] })).not.toContain('secret');
  });
});
