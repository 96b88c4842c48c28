/** What the errors and replies of Valkey GLIDE become, and what it does when a reply does not come. */

import { Decoder, GlideClient, ProtocolVersion } from '@valkey/valkey-glide';
import { describe, expect, it, onTestFinished } from 'vitest';
import { glideDriver } from '../../src/drivers/valkey-glide/one-server.ts';
import { classify } from '../../src/outcome.ts';
import { randomName } from '../harness/names.ts';
import { evalOn } from '../harness/script-calls.ts';
import { describeWithProcess, ownProxy, ownServer, sharedServer } from '../harness/servers.ts';
import { glideConfig } from '../harness/valkey-glide.ts';
import { failure } from './parts/driver-contract.ts';

const COUNT = "return redis.call('incr', KEYS[1])";

type Config = Parameters<typeof GlideClient.createClient>[0];

async function open(address: { host: string; port: number }, more: Partial<Config> = {}) {
  const config: Config = { ...glideConfig(address), ...more };
  const client = await GlideClient.createClient(config);
  onTestFinished(() => client.close());
  return { client, driver: glideDriver(client, config) };
}

describe('errors of Valkey GLIDE', () => {
  it.each([
    ['ERR wrong number', 'refused'],
    ['NOSCRIPT No matching script.', 'refused'],
    ['NOPERM no: - dash', 'refused'],
    ['CROSSSLOT Keys', 'refused'],
    ['OOM command: not allowed', 'refused'],
    ['OURS says: no', 'refused'],
    ['EXECABORT Transaction discarded', 'refused'],
    ['NOTBUSY No scripts', 'refused'],
    ['MOVED 12 127.0.0.1:1', 'transient'],
    ['ASK 12 127.0.0.1:1', 'transient'],
    ['TRYAGAIN Multiple keys', 'transient'],
    ['CLUSTERDOWN The cluster is down', 'transient'],
    ['MASTERDOWN Link', 'transient'],
    ['READONLY You cannot', 'transient'],
    ['LOADING Redis is loading', 'transient'],
    ['BUSY Redis is busy', 'transient'],
    ['NOREPLICAS Not enough', 'transient'],
    ['MISCONF Errors writing', 'transient'],
    ['ERR max number of clients reached', 'transient'],
  ])(`keep the server's text "%s"`, async (text, outcome) => {
    const { driver } = await open(sharedServer());
    const error = await failure(evalOn(driver, 'return redis.error_reply(ARGV[1])', [], [text]));
    expect([error.message, classify(error)]).toEqual([text, outcome]);
    expect(error.cause).toMatchObject({ name: expect.stringMatching(/^(?:Request|ExecAbort)Error$/) });
  });

  it('show that a closed client has sent nothing', async () => {
    const { client, driver } = await open(sharedServer());
    client.close();
    expect(classify(await failure(evalOn(driver, 'return 1', [], [])))).toBe('transient');
  });

  it('show that a command beyond the limit was not sent', async () => {
    const { driver } = await open(sharedServer(), { inflightRequestsLimit: 1 });
    const key = randomName();
    const calls = Array.from({ length: 20 }, () => evalOn(driver, COUNT, [key], []).catch(classify));
    const outcomes = await Promise.all(calls);
    expect(outcomes).toContain('transient');
    const ran = outcomes.filter((outcome) => outcome !== 'transient').length;
    await expect.poll(() => evalOn(driver, "return redis.call('get', KEYS[1])", [key], [])).toBe(String(ran));
  });
});

describe('replies of Valkey GLIDE', () => {
  const REPLY = "return { 1, 'zwölf', false, { '\\255x' }, redis.status_reply('DONE') }";

  it.each([
    ['as it is', {}],
    ['on RESP2', { protocol: ProtocolVersion.RESP2 }],
    ['decoding to bytes', { defaultDecoder: Decoder.Bytes }],
  ])('are text also where bytes are not UTF-8: %s', async (_, more) => {
    const { driver } = await open(sharedServer(), more);
    expect(await evalOn(driver, REPLY, [], [])).toEqual([1, 'zwölf', null, ['\uFFFDx'], 'DONE']);
  });
});

describeWithProcess('Valkey GLIDE without a reply', () => {
  const KEY = 'count';

  it('does not send a script again whose reply was lost', async () => {
    const server = await ownServer();
    const proxy = await ownProxy(server);
    const { driver } = await open(proxy);
    const swallowed = proxy.swallowReply('incr');
    const outcome = failure(evalOn(driver, COUNT, [KEY], [])).then(classify);
    await swallowed;
    expect(await outcome).toBe('unknown');
    // Answered on a new connection, behind anything that would have been sent again.
    await expect.poll(() => evalOn(driver, "return 'up'", [], []).catch(() => 'down')).toBe('up');
    expect(await server.command('GET', KEY)).toBe('1');
  });

  it('fails at its own time-out, and the script may run later', async () => {
    const server = await ownServer();
    const { driver } = await open(server, { requestTimeout: 100 });
    await server.pause();
    const error = await failure(evalOn(driver, COUNT, [KEY], []));
    await server.resume();
    expect(classify(error)).toBe('unknown');
    await expect.poll(() => server.command('GET', KEY)).toBe('1');
  });

  it('drops a script that waits for a connection by its own time-out, and never sends it', async () => {
    const server = await ownServer();
    const { driver } = await open(server, { requestTimeout: 100 });
    await server.kill();
    // The first may still find the connection open; the second finds none.
    for (let call = 0; call < 2; call += 1) {
      expect(classify(await failure(evalOn(driver, COUNT, [KEY], [])))).toBe('unknown');
    }
    await server.restart();
    await expect.poll(() => evalOn(driver, "return 'up'", [], []).catch(() => 'down')).toBe('up');
    expect(await server.command('EXISTS', KEY)).toBe(0);
  });
});
