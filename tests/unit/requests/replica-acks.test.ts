/** Which grants travel together, what is waited for, and how many replicas that takes. */
import { describe, expect, it } from 'vitest';
import { ReplicaAcks } from '../../../src/requests/replica-acks.ts';
import { ReplicaCounts, type ReplicaRequirement } from '../../../src/requests/replica-counts.ts';
import { ManualClock } from '../../harness/manual-clock.ts';
import { evalOn, evalShaOn } from '../../harness/script-calls.ts';
import { CarryingDriver } from '../support/carrying-driver.ts';
import { refusal, reset, unreachable, watchPromise } from '../support/deferred.ts';

type Asked = { readonly key: string; answer(replicas: number | null): void; fail(error: unknown): void };

function setUp({
  requirement = 'auto',
  expected = 0,
}: {
  requirement?: ReplicaRequirement;
  expected?: number;
} = {}) {
  const clock = new ManualClock();
  const driver = new CarryingDriver();
  const replicaCounts = new ReplicaCounts({ clock, requirement, expected, topology: 'standalone' });
  const complaints: unknown[] = [];
  /** Every question for the number of replicas; `replicas` answers it at once, unless it is undefined. */
  const asked: Asked[] = [];
  const server: { replicas: number | null | undefined } = { replicas: 1 };
  const replicaAcks = new ReplicaAcks({
    driver,
    replicaCounts,
    timeoutMs: 500,
    count: (key) =>
      new Promise((resolve, reject) => {
        asked.push({ key, answer: resolve, fail: reject });
        if (server.replicas !== undefined) resolve(server.replicas);
      }),
    onUnavailable: (why) => complaints.push(why),
  });
  const send = (key: string, needed = 1, script = key) => {
    const runner = replicaAcks.runnerFor(key, needed);
    const reply = watchPromise(evalShaOn(runner, script, [key], ['x']));
    return { runner, reply };
  };
  return { replicaAcks, asked, replicaCounts, clock, complaints, driver, send, server };
}

const settle = (clock: ManualClock) => clock.advance(0);

describe('grants in flight', () => {
  it('of one turn are sent together, with one WAIT for the highest number that one of them needs', async () => {
    const { clock, driver, send } = setUp();
    const sent = [send('a', 1), send('b', 3), send('c', 2)];
    await settle(clock);
    expect(driver.opened).toHaveLength(1);
    expect(driver.connection.log).toEqual(['evalsha a', 'evalsha b', 'evalsha c', 'WAIT 3 500']);
    driver.connection.answer(3).resolve(2);
    expect(await Promise.all(sent.map(({ runner }) => runner.acknowledged()))).toEqual([2, 2, 2]);
  });

  it('carry their keys and arguments as given', async () => {
    const { replicaAcks, clock, driver } = setUp();
    void evalOn(replicaAcks.runnerFor('a', 1), 'return 1', ['a', 'b'], ['x', Buffer.from([0xff])]);
    await settle(clock);
    expect(driver.connection.sent[0]?.args).toEqual([
      'eval',
      'return 1',
      '2',
      'a',
      'b',
      'x',
      Buffer.from([0xff]),
    ]);
  });

  it('that arrive during a WAIT are all sent with the next one', async () => {
    const { clock, driver, send } = setUp();
    send('a');
    await settle(clock);
    const later = [send('b', 1)];
    await settle(clock);
    later.push(send('c', 2));
    await settle(clock);
    const { connection } = driver;
    expect(connection.log).toEqual(['evalsha a', 'WAIT 1 500']);
    connection.answer(1).resolve(1);
    await settle(clock);
    expect(connection.log.slice(2)).toEqual(['evalsha b', 'evalsha c', 'WAIT 2 500']);
    connection.answer(4).resolve(2);
    expect(await Promise.all(later.map(({ runner }) => runner.acknowledged()))).toEqual([2, 2]);
  });

  it('are answered before a replica has acknowledged them', async () => {
    const { clock, driver, send } = setUp();
    const { reply, runner } = send('a');
    await settle(clock);
    driver.connection.answer(0).resolve(['held']);
    const acknowledged = watchPromise(runner.acknowledged());
    await settle(clock);
    expect(reply).toMatchObject({ state: 'resolved', value: ['held'] });
    expect(acknowledged.state).toBe('pending');
    driver.connection.answer(1).resolve(1);
    await settle(clock);
    expect(acknowledged).toMatchObject({ state: 'resolved', value: 1 });
  });

  it('are acknowledged by the WAIT after the last script', async () => {
    const { replicaAcks, clock, driver } = setUp();
    const runner = replicaAcks.runnerFor('a', 1);
    const unknown = watchPromise(evalShaOn(runner, 'digest', ['a'], []));
    await settle(clock);
    driver.connection.answer(0).reject(refusal('NOSCRIPT No matching script.'));
    driver.connection.answer(1).resolve(2);
    await settle(clock);
    expect(unknown.state).toBe('rejected');
    void evalOn(runner, 'source', ['a'], []);
    const acknowledged = watchPromise(runner.acknowledged());
    await settle(clock);
    expect(acknowledged.state).toBe('pending');
    driver.connection.answer(3).resolve(1);
    await settle(clock);
    expect(acknowledged.value).toBe(1);
  });

  it('of one server do not wait for another', async () => {
    const { clock, driver, send } = setUp();
    driver.homes.set('b', 'B');
    send('a');
    send('b');
    await settle(clock);
    expect(driver.opened.map(({ node, log }) => [node, log.length])).toEqual([
      ['A', 2],
      ['B', 2],
    ]);
    driver.connection.answer(1).resolve(1);
    await settle(clock);
    send('b', 1, 'again');
    await settle(clock);
    expect(driver.connection.log.slice(2)).toEqual(['evalsha again', 'WAIT 1 500']);
  });

  it('answered with MOVED make the client look for the new server', async () => {
    const { clock, driver, send } = setUp();
    const { reply } = send('a');
    await settle(clock);
    driver.connection.answer(0).reject(refusal('MOVED 1 127.0.0.1:7001'));
    await settle(clock);
    expect(reply.state).toBe('rejected');
    expect(driver.rediscovered).toEqual(['a']);
  });

  it('to a server that is unreachable or silent make the client look for the primary', async () => {
    const { clock, driver, send } = setUp();
    driver.failures.push(unreachable());
    send('a');
    await settle(clock);
    expect(driver.rediscovered).toEqual(['a']);
    send('b');
    await settle(clock);
    for (const { answer } of driver.connection.sent) answer.reject(reset());
    await settle(clock);
    expect(driver.rediscovered).toEqual(['a', 'b']);
  });

  it('that are refused do not make the client look for a server', async () => {
    const { clock, driver, send } = setUp();
    send('a');
    await settle(clock);
    driver.connection.answer(0).reject(refusal());
    await settle(clock);
    expect(driver.rediscovered).toEqual([]);
  });
});

describe('a connection', () => {
  it('that cannot be opened rejects pending grants, and is opened again for the next', async () => {
    const { clock, driver, send } = setUp();
    const failure = unreachable();
    driver.failures.push(failure);
    const sent = [send('a'), send('b')];
    await settle(clock);
    for (const { reply, runner } of sent) {
      expect(reply).toMatchObject({ state: 'rejected', error: failure });
      expect(runner.isUndelivered).toBe(true);
      await expect(runner.acknowledged()).rejects.toBe(failure);
    }
    const { runner } = send('c');
    await settle(clock);
    expect(driver.connection.log).toEqual(['evalsha c', 'WAIT 1 500']);
    expect(runner.isUndelivered).toBe(false);
  });

  it('that breaks or falls silent rejects its grants, is dropped, and is replaced for waiting ones', async () => {
    const { clock, driver, send } = setUp();
    const { reply, runner } = send('a');
    await settle(clock);
    const broken = driver.connection;
    const next = send('b');
    for (const { answer } of broken.sent) answer.reject(reset());
    await settle(clock);
    expect(reply.state).toBe('rejected');
    expect(runner.isUndelivered).toBe(false);
    await expect(runner.acknowledged()).rejects.toThrow('ECONNRESET');
    expect(broken.isDestroyed).toBe(true);
    expect(driver.opened).toHaveLength(2);
    driver.connection.answer(0).resolve(['held']);
    driver.connection.answer(1).resolve(1);
    await settle(clock);
    expect(next.reply.value).toEqual(['held']);
    expect(await next.runner.acknowledged()).toBe(1);
  });

  it('that broke while idle is replaced', async () => {
    const { clock, driver, send } = setUp();
    send('a');
    await settle(clock);
    driver.connection.answer(1).resolve(1);
    await settle(clock);
    driver.connection.events.onDown(reset());
    send('b');
    await settle(clock);
    expect(driver.opened).toHaveLength(2);
    expect(driver.connection.log).toEqual(['evalsha b', 'WAIT 1 500']);
  });

  it('that refuses WAIT is kept for grants without acknowledgements', async () => {
    const { clock, driver, send } = setUp();
    const { reply, runner } = send('a');
    await settle(clock);
    driver.connection.answer(0).resolve(['held']);
    driver.connection.answer(1).reject(refusal());
    await settle(clock);
    expect(reply.value).toEqual(['held']);
    await expect(runner.acknowledged()).rejects.toThrow('NOPERM');
    send('b');
    await settle(clock);
    expect(driver.opened).toHaveLength(1);
    expect(driver.connection.isDestroyed).toBe(false);
  });

  it.each([
    'ERR WAIT cannot be used with replica instances.',
    'UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)',
  ])('whose server became a replica is replaced, and its grants are in doubt: %s', async (text) => {
    const { clock, driver, send } = setUp();
    const { runner } = send('a');
    await settle(clock);
    driver.connection.answer(0).resolve(['held']);
    driver.connection.answer(1).reject(refusal(text));
    await settle(clock);
    await expect(runner.acknowledged()).rejects.toMatchObject({ code: 'ERR_OUTCOME_UNKNOWN' });
    expect(driver.connection.isDestroyed).toBe(true);
    send('b');
    await settle(clock);
    expect(driver.opened).toHaveLength(2);
  });
});

describe('how many replicas are needed', () => {
  it.each([
    ['auto', 5, 1],
    ['majority', 5, 3],
  ] as const)(
    'follows from the mode and the connected replicas: %s of %d',
    async (requirement, replicas, needed) => {
      const { replicaAcks, asked, server } = setUp({ requirement });
      server.replicas = replicas;
      expect(await replicaAcks.needed('a')).toBe(needed);
      expect(asked).toHaveLength(1);
    },
  );

  it('is the given number, whatever is connected, without counting', async () => {
    const { replicaAcks, asked } = setUp({ requirement: 3 });
    expect(await replicaAcks.needed('a')).toBe(3);
    expect(await replicaAcks.neededNow('a')).toBe(3);
    expect(asked).toEqual([]);
  });

  it('is counted once for each server, and counted again in the background when it is old', async () => {
    const { replicaAcks, asked, clock, driver, server } = setUp();
    driver.homes.set('b', 'B');
    for (const key of ['a', 'a2', 'b', 'a']) expect(await replicaAcks.needed(key)).toBe(1);
    expect(asked.map(({ key }) => key)).toEqual(['a', 'b']);
    clock.jump(10_001);
    server.replicas = undefined;
    // Answered with what was known, without waiting; and asked for once, though many come.
    expect(await replicaAcks.needed('a')).toBe(1);
    expect(await replicaAcks.needed('a')).toBe(1);
    expect(asked).toHaveLength(3);
    asked[2]?.answer(0);
    await settle(clock);
    expect(await replicaAcks.needed('a')).toBe(0);
  });

  it('stays the same if it could not be counted again', async () => {
    const { replicaAcks, asked, clock, server } = setUp();
    expect(await replicaAcks.needed('a')).toBe(1);
    clock.jump(10_001);
    server.replicas = undefined;
    expect(await replicaAcks.needed('a')).toBe(1);
    asked[1]?.fail(reset());
    await settle(clock);
    expect(await replicaAcks.needed('a')).toBe(1);
    expect(asked).toHaveLength(2);
  });

  it('is not known when it could not be counted the first time', async () => {
    const { replicaAcks, asked, server } = setUp();
    server.replicas = undefined;
    const needed = replicaAcks.needed('a');
    asked[0]?.fail(unreachable());
    await expect(needed).rejects.toThrow('ECONNREFUSED');
  });

  it('is taken from any recent count', async () => {
    const { replicaAcks, asked, replicaCounts } = setUp({ requirement: 'majority' });
    replicaCounts.counted('A', 4);
    expect(await replicaAcks.needed('a')).toBe(2);
    expect(asked).toEqual([]);
  });

  it('is counted at once on request, whatever was known', async () => {
    const { replicaAcks, asked, server } = setUp();
    expect(await replicaAcks.needed('a')).toBe(1);
    server.replicas = 0;
    expect(await replicaAcks.needed('a')).toBe(1);
    expect(await replicaAcks.neededNow('a')).toBe(0);
    expect(asked).toHaveLength(2);
  });

  it('a majority counts all replicas that are expected or were ever seen', async () => {
    const { replicaAcks, server } = setUp({ requirement: 'majority', expected: 2 });
    server.replicas = 0;
    expect(await replicaAcks.needed('a')).toBe(1);
    server.replicas = 4;
    expect(await replicaAcks.neededNow('a')).toBe(2);
    server.replicas = 1;
    expect(await replicaAcks.neededNow('a')).toBe(2);
  });
});

describe('a Cluster whose servers have not all as many replicas', () => {
  it('a majority is one of the replicas that the server of the key has', async () => {
    const { replicaAcks, replicaCounts, driver } = setUp({ requirement: 'majority' });
    driver.homes.set('b', 'B');
    replicaCounts.counted('A', 3);
    replicaCounts.counted('B', 1);
    expect(await replicaAcks.needed('a')).toBe(2);
    expect(await replicaAcks.needed('b')).toBe(1);
  });
});

describe('a server that offers no acknowledgements', () => {
  it('is used without acknowledgements if they are optional, with a warning', async () => {
    const { replicaAcks, asked, replicaCounts, complaints } = setUp();
    const why = refusal();
    expect(replicaAcks.giveUp('a', why)).toBe(true);
    expect(complaints).toEqual([why]);
    expect(replicaCounts.refusal).toBe(`A: ${why.message}`);
    expect(await replicaAcks.needed('a')).toBe(0);
    expect(asked).toEqual([]);
  });

  it('is the only server used without acknowledgements', async () => {
    const { replicaAcks, driver } = setUp();
    driver.homes.set('b', 'B');
    replicaAcks.giveUp('b', refusal());
    expect(await replicaAcks.needed('b')).toBe(0);
    expect(await replicaAcks.needed('a')).toBe(1);
  });

  it('is used with acknowledgements again once a check finds them possible', async () => {
    const { replicaAcks, replicaCounts } = setUp();
    replicaAcks.giveUp('a', refusal());
    replicaCounts.allowed('A');
    expect(await replicaAcks.needed('a')).toBe(1);
  });

  it('is reported again if it refuses again', () => {
    const { replicaAcks, replicaCounts, complaints } = setUp();
    replicaAcks.giveUp('a', refusal());
    replicaCounts.allowed('A');
    replicaAcks.giveUp('a', refusal());
    expect(complaints).toHaveLength(2);
  });

  it.each([1, 'majority'] as const)('is an error if they are required: %s', async (requirement) => {
    const { replicaAcks, replicaCounts, complaints } = setUp({ requirement });
    expect(replicaAcks.giveUp('a', refusal())).toBe(false);
    expect(complaints).toEqual([]);
    // Whoever looks next tells.
    expect(replicaCounts.refusal).toMatch(/^A: NOPERM/);
    expect(await replicaAcks.needed('a')).toBe(1);
  });

  it('and does not report how many replicas there are: optional acknowledgements are skipped, with a warning', async () => {
    const { replicaAcks, complaints, server } = setUp();
    server.replicas = null;
    expect(await replicaAcks.needed('a')).toBe(0);
    expect(complaints).toHaveLength(1);
  });

  it('and does not report how many replicas there are: a majority is not possible', async () => {
    const { replicaAcks, complaints, server } = setUp({ requirement: 'majority' });
    server.replicas = null;
    await expect(replicaAcks.needed('a')).rejects.toThrow('does not report how many replicas');
    expect(complaints).toEqual([]);
  });
});
