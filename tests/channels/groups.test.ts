/** What multi locks and red locks publish, beside their members. */
import { describe, expect, it } from 'vitest';
import type { Holdfast, Lock } from '../../src/index.ts';
import { randomName } from '../harness/names.ts';
import { ACQUIRED, BEGUN, connect, hear, OVER, RELEASED } from './support/hearing.ts';

const GROUPS: readonly { kind: 'multi' | 'red'; of: (client: Holdfast, ...locks: Lock[]) => Lock }[] = [
  { kind: 'multi', of: (client, ...locks) => client.getMultiLock(...locks) },
  { kind: 'red', of: (client, ...locks) => client.getRedLock(...locks) },
];

/** A red lock waits until its server has been up for longer than a lease. */
const PATIENCE = { watchdogMs: 1_000 };

describe.each(GROUPS)('a lock of the kind $kind', ({ kind, of }) => {
  it('tells of itself, and of its members as such', async () => {
    const client = await connect(PATIENCE);
    const member = client.getLock(randomName());
    const group = of(client, member);
    // The server may have started just now.
    await (await group.lock()).unlock();

    const heard = hear(client);
    const hold = await group.lock();
    expect(await hold.unlock()).toBe(true);
    const ofKind = (wanted: string) =>
      heard.all
        .filter(({ message }) => 'kind' in message && message.kind === wanted)
        .map(({ channel, step }) => `${channel} ${step}`);
    expect(ofKind(kind)).toEqual([...ACQUIRED, ...BEGUN, ...RELEASED, ...OVER]);
    expect(ofKind('lock')).toEqual([...ACQUIRED, ...BEGUN, ...RELEASED, ...OVER]);
    const [inner, outer] = heard.of('acquire');
    expect(inner).toMatchObject({ kind: 'lock', isMember: true, attempts: 1, owner: hold.owner });
    expect(outer).toMatchObject({ kind, isMember: false, attempts: 1, contended: false, name: group.name });
    expect(heard.of('hold')).toMatchObject([
      { kind: 'lock', isMember: true, ended: 'released' },
      { kind, isMember: false, ended: 'released' },
    ]);
    expect(heard.of('hold')[1]?.acquire).toBe(outer);
  });

  it('tells that another owner has a member, and of the loss of a member', async () => {
    const [client, other] = [await connect(PATIENCE), await connect()];
    const name = randomName();
    const group = of(client, client.getLock(name));
    await (await group.lock()).unlock();
    const obstacle = await other.getLock(name).lock();
    const heard = hear(client);
    expect(await group.tryLock({ waitMs: 50 })).toBeNull();
    expect(heard.of('acquire').find((message) => message.kind === kind)).toMatchObject({
      outcome: 'timeout',
      contended: true,
    });
    await obstacle.unlock();
    heard.all.length = 0;
    await group.lock();
    await client.getLock(name).forceUnlock();
    expect(heard.of('hold').filter((message) => message.kind === kind)).toMatchObject([
      { ended: 'lost', reason: 'forced' },
    ]);
  });

  it('tells of its end when the owner unlocks it by name', async () => {
    const client = await connect(PATIENCE);
    const group = of(client, client.getLock(randomName()));
    await (await group.lock()).unlock();
    const heard = hear(client);
    await client.scope(async () => {
      await group.lock();
      await group.unlock();
    });
    expect(heard.of('hold').map((message) => [message.kind, message.ended])).toEqual([
      ['lock', 'released'],
      [kind, 'released'],
    ]);
    expect(heard.of('release').map((message) => [message.kind, message.outcome])).toEqual([
      ['lock', 'released'],
      [kind, 'released'],
    ]);
  });
});
