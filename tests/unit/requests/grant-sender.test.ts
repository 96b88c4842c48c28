/** How grants are sent: what is waited for, what is too little, and what the guard makes of them. */
import { describe, expect, it } from 'vitest';
import type { ScriptReply } from '../../../src/drivers/driver.ts';
import { DriverError, ReplicationError } from '../../../src/errors.ts';
import { classify, mayHaveRun, toHoldfastError } from '../../../src/outcome.ts';
import { GrantSender } from '../../../src/requests/grant-sender.ts';
import { Guard } from '../../../src/requests/guard.ts';
import { ReplicaAcks } from '../../../src/requests/replica-acks.ts';
import { ReplicaCounts, type ReplicaRequirement } from '../../../src/requests/replica-counts.ts';
import {
  fairLockAcquire,
  fairLockGuardedAcquire,
  lockAcquire,
  lockGuardedAcquire,
  lockSettledAcquire,
  semaphoreAcquire,
} from '../../../src/scripts/generated.ts';
import { ManualClock } from '../../harness/manual-clock.ts';
import { CarryingDriver } from '../support/carrying-driver.ts';
import { refusal, reset, unreachable, watchPromise } from '../support/deferred.ts';

const SERVER = 'ab'.repeat(20);
const GRACE_MS = 30_000;
const PLACE = { name: 'orders', key: 'raw:orders' };
const KEYS = { lock: 'raw:orders', ended: 'ended' };
const LOCK = { unguarded: lockAcquire, settled: lockSettledAcquire, guarded: lockGuardedAcquire };
const ARGS = { owner: 'c:1', leaseMs: 30_000 };

/** A server that has so many replicas connected, as far as it says. */
function setUp({
  requirement = 1,
  isGuarded = false,
}: {
  requirement?: ReplicaRequirement;
  isGuarded?: boolean;
} = {}) {
  const clock = new ManualClock();
  const driver = new CarryingDriver();
  const complaints: unknown[] = [];
  const server = { count: async (): Promise<number | null> => 1 };
  const replicaAcks = new ReplicaAcks({
    driver,
    replicaCounts: new ReplicaCounts({ clock, requirement, expected: 0, topology: 'standalone' }),
    timeoutMs: 500,
    count: () => server.count(),
    onUnavailable: (why) => complaints.push(why),
  });
  const oneServer = {
    topology: 'standalone',
    keyPrefix: 'raw:',
    nodeOf: () => '',
    nodes: () => [''],
  } as const;
  const guard = new Guard({ clock, graceMs: GRACE_MS, driver: oneServer });
  const grantSender = new GrantSender(driver, replicaAcks, isGuarded ? guard : undefined);
  const plain = new GrantSender(driver, undefined, isGuarded ? guard : undefined);
  const lock = (by = grantSender) => watchPromise(by.lock(PLACE, LOCK, { ...KEYS }, { ...ARGS }));
  /** Answers the script that is under way, and what is waited for behind it. */
  const answer = async (reply: ScriptReply, acknowledged: number | Error) => {
    await clock.advance(0);
    const { connection } = driver;
    connection.answer(connection.sent.length - 2).resolve(reply);
    const waiting = connection.answer(connection.sent.length - 1);
    if (typeof acknowledged === 'number') waiting.resolve(acknowledged);
    else waiting.reject(acknowledged);
    await clock.advance(0);
  };
  return { answer, clock, complaints, driver, grantSender, guard, lock, plain, server };
}

describe('a grant', () => {
  it('counts once enough replicas have it, and not before', async () => {
    const { clock, driver, lock } = setUp({ requirement: 2 });
    const grant = lock();
    await clock.advance(0);
    expect(driver.connection.log).toEqual([`evalsha ${lockAcquire.sha1}`, 'WAIT 2 500']);
    driver.connection.answer(0).resolve(['held']);
    await clock.advance(0);
    expect(grant.state).toBe('pending');
    driver.connection.answer(1).resolve(2);
    await clock.advance(0);
    expect(grant.value).toEqual({ status: 'held' });
  });

  it('that too few replicas have is an error with their number, and has to be undone', async () => {
    const { answer, lock } = setUp({ requirement: 2 });
    const grant = lock();
    await answer(['held'], 1);
    expect(grant.error).toBeInstanceOf(ReplicationError);
    expect(grant.error).toMatchObject({ acknowledged: 1, required: 2 });
    expect(mayHaveRun(grant.error)).toBe(true);
  });

  it('of permits waits for replicas as well', async () => {
    const { answer, grantSender } = setUp({ requirement: 2 });
    const keys = { permits: 'raw:orders', answer: 'answer' };
    const args = { count: 1, takenMs: 60_000, shortMs: 60_000 };
    const grant = watchPromise(grantSender.permits(PLACE, semaphoreAcquire, keys, args));
    await answer(['taken'], 1);
    expect(grant.error).toBeInstanceOf(ReplicationError);
  });

  it('without a known number of acknowledgements is an error with the reason, and has to be undone', async () => {
    const { answer, lock } = setUp({ requirement: 2 });
    const grant = lock();
    const broken = reset();
    await answer(['held'], broken);
    expect(grant.error).toBeInstanceOf(ReplicationError);
    expect(grant.error).toMatchObject({ cause: broken, acknowledged: 0 });
    expect(mayHaveRun(grant.error)).toBe(true);
  });

  it('needs only the replicas connected by then, if the mode is auto', async () => {
    const { answer, lock, server } = setUp({ requirement: 'auto' });
    const grant = lock();
    server.count = async () => 1;
    await new Promise(setImmediate);
    server.count = async () => 0;
    await answer(['held'], 0);
    expect(grant.value).toEqual({ status: 'held' });
  });

  it('without a known number of acknowledgements is an error also if acknowledgements are optional', async () => {
    const { answer, complaints, lock } = setUp({ requirement: 'auto' });
    const grant = lock();
    await answer(['held'], reset());
    expect(grant.error).toBeInstanceOf(ReplicationError);
    expect(complaints).toEqual([]);
  });

  it('fails if connected replicas should have acknowledged', async () => {
    const { answer, lock } = setUp({ requirement: 'auto' });
    const grant = lock();
    await answer(['held'], 0);
    expect(grant.error).toBeInstanceOf(ReplicationError);
  });

  it.each([
    ['certainly not reached', unreachable],
    ['refused', refusal],
    ['no answer', reset],
  ])(
    'that too few replicas have has to be undone, though their number is unknown: %s',
    async (_, failure) => {
      const { answer, clock, lock, server } = setUp({ requirement: 'majority' });
      const grant = lock();
      await clock.advance(0);
      const why = failure();
      server.count = async () => {
        throw why;
      };
      await answer(['held'], 0);
      expect(grant.state).toBe('rejected');
      expect(mayHaveRun(grant.error)).toBe(true);
      expect(grant.error).toBeInstanceOf(ReplicationError);
      expect(grant.error).toMatchObject({ acknowledged: 0, cause: why });
    },
  );
});

describe('a reply that is not a grant', () => {
  it('is returned at once: there is nothing to acknowledge', async () => {
    const { clock, driver, lock } = setUp({ requirement: 2 });
    const busy = lock();
    await clock.advance(0);
    driver.connection.answer(0).resolve(['busy', 1_234]);
    await clock.advance(0);
    expect(busy.value).toEqual({ status: 'busy', remainingMs: 1_234 });
    driver.connection.answer(1).reject(reset());
    await clock.advance(0);
  });

  it('an error of the script stays what it was', async () => {
    const { clock, driver, lock } = setUp({ requirement: 2 });
    const grant = lock();
    await clock.advance(0);
    const error = refusal('WRONGTYPE Operation against a key holding the wrong kind of value');
    driver.connection.answer(0).reject(error);
    driver.connection.answer(1).resolve(0);
    await clock.advance(0);
    expect(grant.error).toBe(error);
  });
});

describe('without a required replica', () => {
  it('no dedicated connection is opened', async () => {
    const { driver, lock, clock, server, plain } = setUp({ requirement: 'auto' });
    server.count = async () => 0;
    driver.reply = async () => ['held'];
    const [counted, never] = [lock(), lock(plain)];
    await clock.advance(0);
    expect([counted.value, never.value]).toEqual([{ status: 'held' }, { status: 'held' }]);
    expect(driver.run).toEqual([lockAcquire.sha1, lockAcquire.sha1]);
    expect(driver.opened).toEqual([]);
  });
});

describe('a server that refuses to wait', () => {
  it('is used without acknowledgements if they are optional', async () => {
    const { answer, clock, complaints, driver, lock } = setUp({ requirement: 'auto' });
    const grant = lock();
    await answer(['held'], refusal());
    expect(grant.value).toEqual({ status: 'held' });
    expect(complaints).toHaveLength(1);
    driver.reply = async () => ['held'];
    const next = lock();
    await clock.advance(0);
    expect(next.value).toEqual({ status: 'held' });
    expect(driver.connection.log).toHaveLength(2);
  });

  it('is an error if acknowledgements are required', async () => {
    const { answer, complaints, lock } = setUp({ requirement: 1 });
    const grant = lock();
    const why = refusal();
    await answer(['held'], why);
    expect(grant.error).toMatchObject({ name: 'ReplicationError', cause: why });
    expect(mayHaveRun(grant.error)).toBe(true);
    expect(complaints).toEqual([]);
  });
});

describe('a client that does not allow dedicated connections', () => {
  const why = new DriverError('Connections of our own need the configuration');

  it('is used without acknowledgements if they are optional: granted on its own connection, with a warning', async () => {
    const { clock, complaints, driver, lock } = setUp({ requirement: 'auto' });
    driver.failures.push(why);
    driver.reply = async () => ['held'];
    const grant = lock();
    await clock.advance(0);
    expect(grant.value).toEqual({ status: 'held' });
    expect(driver.run).toEqual([lockAcquire.sha1]);
    expect(complaints).toEqual([why]);
    const next = lock();
    await clock.advance(0);
    expect(next.value).toEqual({ status: 'held' });
    expect(driver.opened).toEqual([]);
    expect(complaints).toHaveLength(1);
  });

  it.each([1, 'majority'] as const)(
    'is an error if acknowledgements are required: %s',
    async (requirement) => {
      const { clock, complaints, driver, lock } = setUp({ requirement });
      driver.failures.push(why);
      const grant = lock();
      await clock.advance(0);
      expect(grant.error).toBe(why);
      expect(driver.run).toEqual([]);
      expect(complaints).toEqual([]);
    },
  );

  it('differs from a client that reaches no server at present', async () => {
    const { clock, complaints, driver, lock } = setUp({ requirement: 'auto' });
    const nobody = unreachable();
    driver.failures.push(nobody);
    const grant = lock();
    await clock.advance(0);
    expect(grant.error).toBe(nobody);
    expect(complaints).toEqual([]);
  });

  it('differs from a refused script: nothing is sent a second time', async () => {
    const { clock, complaints, driver, lock } = setUp({ requirement: 'auto' });
    const grant = lock();
    await clock.advance(0);
    const error = refusal();
    driver.connection.answer(0).reject(error);
    driver.connection.answer(1).resolve(0);
    await clock.advance(0);
    expect(grant.error).toBe(error);
    expect(driver.run).toEqual([]);
    expect(complaints).toEqual([]);
  });
});

describe('behind the guard', () => {
  const ALL = ['raw:holdfast_guard', 'raw:orders', 'ended', String(GRACE_MS), SERVER, 'c:1', '30000'];

  it("the server gets the client's record, its grace, and the trusted server", async () => {
    const { clock, driver, guard, lock, plain } = setUp({ isGuarded: true });
    guard.saw('raw:orders', SERVER);
    clock.jump(GRACE_MS + 1);
    let said: unknown[] = [];
    driver.reply = async (_sha1, keys, args) => {
      said = [...keys, ...args];
      return null;
    };
    const grant = lock(plain);
    await clock.advance(0);
    expect(grant.value).toEqual({ status: 'held' });
    expect(said).toEqual(ALL);
    expect(driver.run).toEqual([lockGuardedAcquire.sha1]);
  });

  it('a server that was found settled gets the record only, also from other locks', async () => {
    const { clock, driver, lock, plain } = setUp({ isGuarded: true });
    let said: unknown[] = [];
    driver.reply = async (_sha1, keys, args) => {
      said = [...keys, ...args];
      return 777;
    };
    lock(plain);
    await clock.advance(0);
    const grant = lock(plain);
    await clock.advance(0);
    expect(grant.value).toEqual({ status: 'busy', remainingMs: 777 });
    expect(said).toEqual(['raw:holdfast_guard', 'raw:orders', 'ended', 'c:1', '30000']);
    expect(driver.run).toEqual([lockGuardedAcquire.sha1, lockSettledAcquire.sha1]);
  });

  it('once another server is in charge, the attempt has certainly not run, and the next one asks for the grace', async () => {
    const { clock, driver, lock, plain } = setUp({ isGuarded: true });
    driver.reply = async () => null;
    lock(plain);
    await clock.advance(0);
    driver.reply = async () => ['unsettled'];
    const declined = lock(plain);
    await clock.advance(0);
    expect(classify(declined.error)).toBe('transient');
    expect(toHoldfastError(declined.error, 'acquire "orders"').message).toBe(
      'Could not acquire "orders": another server is in charge, or the same one restarted',
    );
    driver.reply = async () => ['grace', 12_345, SERVER];
    const kept = lock(plain);
    await clock.advance(0);
    expect(kept.value).toEqual({ status: 'busy', remainingMs: 12_345 });
    const again = lock(plain);
    await clock.advance(0);
    expect(again.value).toEqual({ status: 'busy', remainingMs: 12_345 });
    const [first, settled, ...guarded] = driver.run;
    expect([first, settled]).toEqual([lockGuardedAcquire.sha1, lockSettledAcquire.sha1]);
    expect(guarded).toEqual([lockGuardedAcquire.sha1, lockGuardedAcquire.sha1]);
  });

  it('a grace counts as busy while it lasts, needs no acknowledgement, and is remembered', async () => {
    const { clock, driver, guard, lock } = setUp({ isGuarded: true });
    const grant = lock();
    await clock.advance(0);
    driver.connection.answer(0).resolve(['grace', 12_345, SERVER]);
    await clock.advance(0);
    expect(grant.value).toEqual({ status: 'busy', remainingMs: 12_345 });
    expect(guard.terms().trusted).toBe('');
    clock.jump(GRACE_MS + 1);
    expect(guard.terms().trusted).toBe(SERVER);
  });

  it('the guarded script of the lock runs if there is one, and its grace counts as busy as well', async () => {
    const { clock, driver, guard, plain } = setUp({ isGuarded: true });
    driver.reply = async () => ['grace', 12_345, SERVER];
    const keys = { lock: 'raw:orders', queue: 'q', timeouts: 't', seen: 's', ended: 'ended' };
    const args = { ...ARGS, waitMs: 1, silentMs: 1, publish: 'PUBLISH', channel: 'c' };
    const grant = watchPromise(
      plain.lock(PLACE, { unguarded: fairLockAcquire, guarded: fairLockGuardedAcquire }, keys, args),
    );
    await clock.advance(0);
    expect(grant.value).toEqual({ status: 'busy', remainingMs: 12_345 });
    expect(driver.run).toEqual([fairLockGuardedAcquire.sha1]);
    clock.jump(GRACE_MS + 1);
    expect(guard.terms().trusted).toBe(SERVER);
  });

  it("the lock's own answer is not mistaken for a grace", async () => {
    const { clock, driver, lock, plain } = setUp({ isGuarded: true });
    driver.reply = async () => ['busy', 777];
    const grant = lock(plain);
    await clock.advance(0);
    expect(grant.value).toEqual({ status: 'busy', remainingMs: 777 });
  });
});
