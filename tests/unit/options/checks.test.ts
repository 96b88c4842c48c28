/** Every option with every kind of wrong value: refused, by name, with an error that is a TypeError. */
import { describe, expect, it } from 'vitest';
import { HoldfastError, OptionError } from '../../../src/errors.ts';
import { checkLeaseMs, checkName, checkOptions } from '../../../src/options/checks.ts';

type Table = Parameters<typeof checkOptions>[0];
type Cases = { readonly good: readonly unknown[]; readonly bad: readonly unknown[] };

const NO_NUMBERS = ['5', '', null, true, false, {}, [], [5], 5n, () => 5, Symbol('5')];
const NOT_WHOLE = [1.5, -1, -0.1, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 2 ** 53];

function wholeFrom(least: number): Cases {
  const tooLittle = least > 0 ? [0, least - 1] : [];
  return {
    good: [least, least + 1, 1_000_000, Number.MAX_SAFE_INTEGER],
    bad: [...NO_NUMBERS, ...NOT_WHOLE, ...tooLittle],
  };
}
const callback: Cases = { good: [() => {}], bad: [null, 'f', 0, {}, Symbol.iterator] };
const flag: Cases = { good: [true, false], bad: [null, 0, 1, 'true', {}] };
const signal: Cases = { good: [new AbortController().signal], bad: [null, true, {}, new AbortController()] };
/** Checked elsewhere. */
const anything: Cases = { good: [{}, null, 5], bad: [] };

const holding = { leaseMs: wholeFrom(1), signal, maxHoldMs: wholeFrom(1) };

const TABLES: Partial<Record<Table, Record<string, Cases>>> = {
  client: {
    watchdogMs: wholeFrom(100),
    commandTimeoutMs: wholeFrom(1),
    mapName: callback,
    closeOnSignals: {
      good: [false, true, { drainMs: 0 }, { drainMs: 5_000 }, { drainMs: Number.POSITIVE_INFINITY }],
      bad: [
        null,
        0,
        1,
        'true',
        {},
        { drainMs: -1 },
        { drainMs: 1.5 },
        { drainMs: '5' },
        { drainMs: 5, x: 1 },
      ],
    },
    fairWaitMs: wholeFrom(1),
    replicas: { good: [0, 1, 5, 'auto', 'majority'], bad: [1.5, -1, null, '0', true, 'none'] },
    replicaTimeoutMs: wholeFrom(1),
    guard: {
      good: [false, true, { graceMs: 100 }],
      bad: [null, 0, 'auto', {}, { graceMs: 99 }, { graceMs: 500, x: 1 }],
    },
    passOn: {
      good: [false, true, {}, { maxMs: 1 }, { maxHolds: 5, maxMs: 20 }],
      bad: [null, 1, 'on', { maxMs: 0 }, { maxHolds: 1.5 }, { ms: 1 }],
    },
    shardedPubSub: { good: [false, 'auto'], bad: [true, null, 1, 'yes'] },
    label: { good: ['a', 'Büro 7', 'x'.repeat(200)], bad: ['', 'a\nb', 'x'.repeat(201), null, 7, {}] },
    warnHeldMs: wholeFrom(1),
    warnWaitMs: wholeFrom(1),
  },
  inspect: { as: { good: ['semaphore', 'permitSemaphore', 'latch'], bad: ['lock', '', null, 1] } },
  list: { counters: flag },
  close: {
    drainMs: {
      good: [0, 1, Number.MAX_SAFE_INTEGER, Number.POSITIVE_INFINITY],
      bad: [...NO_NUMBERS, ...NOT_WHOLE.filter((value) => value !== Number.POSITIVE_INFINITY)],
    },
  },
  lock: { ...holding, owner: anything },
  tryLock: { ...holding, waitMs: wholeFrom(0), owner: anything },
  withLock: { ...holding, waitMs: wholeFrom(0), onAcquire: callback, onRelease: callback },
  owned: { owner: anything },
  lockKind: { guard: { good: [true, false], bad: [null, 1, 'on', { graceMs: 500 }] } },
  readWriteLock: {
    guard: { good: [true, false], bad: [1] },
    prefer: { good: ['writer'], bad: ['reader', null, true, 1] },
  },
  webLock: {
    mode: { good: ['exclusive', 'shared'], bad: ['both', null, 1] },
    ifAvailable: flag,
    steal: flag,
    signal,
  },
  acquirePermits: { signal },
  tryAcquirePermits: { waitMs: wholeFrom(0), signal },
  withPermit: { permits: wholeFrom(1), waitMs: wholeFrom(0), signal },
  awaitLatch: { waitMs: wholeFrom(0), signal },
  fencedLock: { guard: { good: [true, false], bad: [1] }, tokenRetentionMs: wholeFrom(60_000) },
  exponential: {
    kind: { good: ['exponential'], bad: ['constant', null, 1, 'x'] },
    initialMs: wholeFrom(1),
    maxMs: wholeFrom(1),
    multiplier: {
      good: [0.5, 1, 2.5],
      bad: [...NO_NUMBERS, 0, -1, Number.NaN, Number.POSITIVE_INFINITY],
    },
  },
  constant: {
    kind: { good: ['constant'], bad: ['exponential', null, 1, 'x'] },
    delayMs: wholeFrom(1),
  },
};

function refusalOf(call: () => unknown): unknown {
  try {
    call();
  } catch (error) {
    return error;
  }
  return expect.unreachable('it was accepted');
}

function expectOptionError(error: unknown, about: string): void {
  expect(error).toBeInstanceOf(OptionError);
  expect(error).toBeInstanceOf(TypeError);
  expect(error).toBeInstanceOf(HoldfastError);
  expect(error).toMatchObject({ code: 'ERR_INVALID_OPTION', name: 'OptionError' });
  expect((error as Error).message).toContain(about);
}

const show = (value: unknown) => (typeof value === 'string' ? JSON.stringify(value) : String(value));

describe.each(Object.entries(TABLES) as [Table, Record<string, Cases>][])(
  'options of %s',
  (table, options) => {
    it('are all in this test', () => {
      const error = refusalOf(() => checkOptions(table, { noSuchOption: 1 }));
      expectOptionError(error, 'noSuchOption');
      const known = /the options here are (.*)$/.exec((error as Error).message)?.[1]?.split(', ');
      expect(known?.sort()).toEqual(Object.keys(options).sort());
    });

    for (const [option, { good, bad }] of Object.entries(options)) {
      it.each(bad.map((value) => [show(value), value]))(`${option}: not %s`, (_shown, value) => {
        expectOptionError(
          refusalOf(() => checkOptions(table, { [option]: value })),
          option,
        );
      });

      it.each(good.map((value) => [show(value), value]))(`${option}: %s`, (_shown, value) => {
        expect(checkOptions(table, { [option]: value })).toEqual({ [option]: value });
      });

      it(`${option}: undefined counts as left out`, () => {
        expect(checkOptions(table, { [option]: undefined })).toEqual({});
      });
    }

    it('may be left out altogether', () => {
      expect(checkOptions(table, undefined)).toEqual({});
      expect(checkOptions(table, {})).toEqual({});
    });

    it.each([[null], ['x'], [5], [true], [() => {}]])('are an object, not %s', (given) => {
      expectOptionError(
        refusalOf(() => checkOptions(table, given)),
        'Options',
      );
    });

    it.each(['constructor', 'toString', 'hasOwnProperty', 'LeaseMs', 'lease'])(
      'do not include %s, even if objects inherit it',
      (option) => {
        expectOptionError(
          refusalOf(() => checkOptions(table, { [option]: 1 })),
          option,
        );
      },
    );
  },
);

describe('checkName', () => {
  it.each([[''], [null], [undefined], [5], [{}], [['x']], [Symbol('x')]])('refuses %s', (name) => {
    expectOptionError(
      refusalOf(() => checkName(name)),
      'name',
    );
  });

  it.each(['\ud800', 'a\udc00b', '\udc00\ud800'])('refuses half a character: %j', (name) => {
    expectOptionError(
      refusalOf(() => checkName(name)),
      'well-formed',
    );
  });

  it.each(['x', ' ', '{', 'a}b', 'ключ', '🔑', 'line\nbreak', '\0'])('accepts %j unchanged', (name) => {
    expect(checkName(name)).toBe(name);
  });
});

describe('checkLeaseMs', () => {
  const { good, bad } = wholeFrom(1);

  it.each(bad.map((value) => [show(value), value]))('refuses %s', (_shown, value) => {
    expectOptionError(
      refusalOf(() => checkLeaseMs(value)),
      'leaseMs',
    );
  });

  it('refuses undefined too', () => {
    expectOptionError(
      refusalOf(() => checkLeaseMs(undefined)),
      'leaseMs',
    );
  });

  it.each(good.map((value) => [show(value), value]))('accepts %s', (_shown, value) => {
    expect(checkLeaseMs(value)).toBe(value);
  });
});
