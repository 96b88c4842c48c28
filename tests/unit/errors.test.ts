/** Errors: their codes, and that `instanceof` knows those of another copy of the package. */
import { beforeAll, describe, expect, it } from 'vitest';
import * as ours from '../../src/errors.ts';

type Errors = typeof ours;

const classes: Errors = { ...ours };

/** One of each, made by the given copy. */
function oneOfEach(errors: Errors) {
  return {
    AcquireTimeoutError: new errors.AcquireTimeoutError('a', 100, { holder: 'c:1', remainingMs: 5 }),
    LeaseLostError: new errors.LeaseLostError('a', 'c:1', 'expired'),
    NotHeldError: new errors.NotHeldError('a'),
    ReentryError: new errors.ReentryError('a'),
    DeadlockError: new errors.DeadlockError('a', 'c:1', 'another owner'),
    QuorumError: new errors.QuorumError('a', [{ server: 's', outcome: 'busy' }]),
    ReplicationError: new errors.ReplicationError('a', 0, 1),
    StaleTokenError: new errors.StaleTokenError('a', 7, 9),
    OutcomeUnknownError: new errors.OutcomeUnknownError('no answer'),
    DriverError: new errors.DriverError('it failed'),
    ClosedError: new errors.ClosedError(),
    OptionError: new errors.OptionError('wrong'),
  };
}

type Name = keyof ReturnType<typeof oneOfEach>;

const CODES: Record<Name, string> = {
  AcquireTimeoutError: 'ERR_ACQUIRE_TIMEOUT',
  LeaseLostError: 'ERR_LEASE_LOST',
  NotHeldError: 'ERR_NOT_HELD',
  ReentryError: 'ERR_REENTRY',
  DeadlockError: 'ERR_DEADLOCK',
  QuorumError: 'ERR_QUORUM',
  ReplicationError: 'ERR_REPLICATION',
  StaleTokenError: 'ERR_STALE_TOKEN',
  OutcomeUnknownError: 'ERR_OUTCOME_UNKNOWN',
  DriverError: 'ERR_DRIVER',
  ClosedError: 'ERR_CLOSED',
  OptionError: 'ERR_INVALID_OPTION',
};
const NAMES = Object.keys(CODES) as Name[];

let theirs: Errors;
beforeAll(async () => {
  const copy = '../../src/errors.ts?another-copy';
  theirs = (await import(/* @vite-ignore */ copy)) as Errors;
});

describe('errors', () => {
  it('are all in this test', () => {
    const exported = Object.keys(ours).filter((name) => name !== 'HoldfastError');
    expect(exported.sort()).toEqual([...NAMES].sort());
  });

  it.each(NAMES)('%s has its code, its name and a message', (name) => {
    const error = oneOfEach(ours)[name];
    expect(error.code).toBe(CODES[name]);
    expect(error.name).toBe(name);
    expect(error).toBeInstanceOf(Error);
    expect(error).toBeInstanceOf(ours.HoldfastError);
    expect(error.message).not.toBe('');
    expect(error.stack).toContain('errors.test.ts');
  });

  it('the second copy of the module has its own classes', () => {
    expect(theirs.LeaseLostError).not.toBe(ours.LeaseLostError);
    expect(Object.getPrototypeOf(oneOfEach(theirs).LeaseLostError)).not.toBe(ours.LeaseLostError.prototype);
  });

  it.each(NAMES)('%s of another copy is an instance of ours and of no other class', (name) => {
    const error = oneOfEach(theirs)[name];
    expect(error instanceof ours.HoldfastError).toBe(true);
    for (const each of NAMES) expect(error instanceof classes[each]).toBe(each === name);
  });

  it.each([
    ['an error of its own', new Error('x')],
    ['an error with our code', Object.assign(new Error('x'), { code: 'ERR_LEASE_LOST' })],
    ['nothing', undefined],
    ['null', null],
    ['text', 'ERR_LEASE_LOST'],
    ['an object', { code: 'ERR_LEASE_LOST' }],
  ])('%s is not an error of this package', (_what, value) => {
    expect(value instanceof ours.HoldfastError).toBe(false);
    for (const name of NAMES) expect(value instanceof classes[name]).toBe(false);
  });

  it.each([
    ['OutcomeUnknownError', (options: ErrorOptions) => new ours.OutcomeUnknownError('x', options)],
    ['DriverError', (options: ErrorOptions) => new ours.DriverError('x', options)],
    ['LeaseLostError', (options: ErrorOptions) => new ours.LeaseLostError('a', 'c:1', 'expired', options)],
  ] as const)('%s keeps its cause', (_name, make) => {
    const cause = new Error('the reason');
    expect(make({ cause }).cause).toBe(cause);
  });

  it('OptionError is also a TypeError', () => {
    expect(new ours.OptionError('x')).toBeInstanceOf(TypeError);
  });

  it('a class that users derive knows its own instances only', () => {
    class MyLoss extends ours.LeaseLostError {}
    class MyOptionError extends ours.OptionError {}
    class MyError extends ours.HoldfastError {
      readonly code = 'ERR_DRIVER';
    }
    const mine = new MyLoss('a', 'c:1', 'forced');
    expect(mine).toBeInstanceOf(MyLoss);
    expect(mine).toBeInstanceOf(ours.LeaseLostError);
    expect(mine).toBeInstanceOf(ours.HoldfastError);
    expect(mine).not.toBeInstanceOf(ours.DriverError);
    expect(new ours.LeaseLostError('a', 'c:1', 'forced') instanceof MyLoss).toBe(false);
    expect(new MyError('x') instanceof MyError).toBe(true);
    expect(new ours.DriverError('x') instanceof MyError).toBe(false);
    expect(new MyOptionError('x') instanceof MyOptionError).toBe(true);
    expect(new ours.OptionError('x') instanceof MyOptionError).toBe(false);
  });

  it('AcquireTimeoutError names the holder, as far as it is known', () => {
    const known = new ours.AcquireTimeoutError('orders', 250, { holder: 'c:1', remainingMs: 1_234 });
    expect(known).toMatchObject({ lockName: 'orders', waitedMs: 250, holder: 'c:1', remainingMs: 1_234 });
    for (const part of ['250 ms', '"orders"', 'c:1', '1234 ms']) expect(known.message).toContain(part);
    const unknown = new ours.AcquireTimeoutError('orders', 250);
    expect(unknown.holder).toBe(undefined);
    expect(unknown.message).toBe('Could not acquire "orders" within 250 ms');
    expect(new ours.AcquireTimeoutError('a', 1, { remainingMs: 7 }).message).toContain('another owner');
    expect(new ours.AcquireTimeoutError('a', 1, { holder: 'c:1', remainingMs: -1 }).message).not.toContain(
      '-1',
    );
  });

  it('LeaseLostError has a different text for every reason', () => {
    const reasons: ours.LossReason[] = [
      'expired',
      'notOwner',
      'unreachable',
      'failover',
      'suspended',
      'forced',
      'maxHold',
      'closed',
    ];
    const texts = reasons.map((reason) => new ours.LeaseLostError('a', 'c:1', reason).message);
    expect(new Set(texts).size).toBe(reasons.length);
    for (const text of texts) expect(text).not.toContain('undefined');
  });
});
