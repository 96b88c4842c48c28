/** Positions, the NOSCRIPT fallback and the decoding of replies, against a driver that records. */
import { describe, expect, it } from 'vitest';
import type { ScriptArgument, ScriptReply } from '../../../src/drivers/driver.ts';
import { OutcomeUnknownError } from '../../../src/errors.ts';
import { defineScript } from '../../../src/scripts/script.ts';

interface Call {
  readonly command: readonly ScriptArgument[];
  readonly key: string | undefined;
}

/** Gives the answers one after the other; an Error is a rejection. */
function recordingDriver(...answers: (ScriptReply | Error)[]) {
  const calls: Call[] = [];
  const script = async (
    command: readonly ScriptArgument[],
    _signal?: unknown,
    key?: string,
  ): Promise<ScriptReply> => {
    calls.push({ command, key });
    const next = answers.shift();
    if (next === undefined) throw new Error('no answer left');
    if (next instanceof Error) throw next;
    return next;
  };
  return { calls, script };
}

const take = defineScript<
  { lock: string; ended: string },
  { owner: string; leaseMs: number; payload: Buffer },
  { status: 'held' } | { status: 'busy'; remainingMs: number; holder: string | null }
>({
  name: 'lock/take',
  sha1: 'ab12',
  source: 'return 1',
  keys: [
    ['lock', 'string'],
    ['ended', 'string'],
  ],
  args: [
    ['owner', 'string'],
    ['leaseMs', 'integer'],
    ['payload', 'bytes'],
  ],
  replies: {
    held: [],
    busy: [
      ['remainingMs', 'integer'],
      ['holder', 'string?'],
    ],
  },
});

const many = defineScript<
  { first: string; locks: readonly string[] },
  { leaseMs: number; counts: readonly number[] },
  { status: 'renewed'; total: number; held: number[] } | { status: 'named'; names: string[] }
>({
  name: 'lock/many',
  sha1: 'cd34',
  source: 'return 2',
  keys: [
    ['first', 'string'],
    ['locks', 'string...'],
  ],
  args: [
    ['leaseMs', 'integer'],
    ['counts', 'integer...'],
  ],
  replies: {
    renewed: [
      ['total', 'integer'],
      ['held', 'integer...'],
    ],
    named: [['names', 'string...']],
  },
});

const lean = defineScript<
  { lock: string },
  Record<string, never>,
  { status: 'held' } | { status: 'busy'; remainingMs: number } | { status: 'kept'; why: string }
>({
  name: 'lock/lean',
  sha1: 'ef56',
  source: 'return 3',
  keys: [['lock', 'string']],
  args: [],
  replies: { held: [], busy: [['remainingMs', 'integer']], kept: [['why', 'string']] },
  nil: 'held',
  integer: 'busy',
});

const keys = { ended: 'E', lock: 'L' };
const args = { payload: Buffer.from([0xff, 0x00]), leaseMs: 30_000, owner: 'me' };

describe('positions', () => {
  it('come from the descriptor, not from the order of the object', async () => {
    const driver = recordingDriver(['held']);
    await take.run(driver, keys, args);
    expect(driver.calls).toEqual([
      { command: ['evalsha', 'ab12', '2', 'L', 'E', 'me', '30000', Buffer.from([0xff, 0x00])], key: 'L' },
    ]);
  });

  it('put a list after the fixed ones', async () => {
    const driver = recordingDriver(['named']);
    await many.run(driver, { locks: ['B', 'C'], first: 'A' }, { counts: [7, -8, 0], leaseMs: 5 });
    const command = ['evalsha', 'cd34', '3', 'A', 'B', 'C', '5', '7', '-8', '0'];
    expect(driver.calls).toEqual([{ command, key: 'A' }]);
  });

  it('take an empty list', async () => {
    const driver = recordingDriver(['named']);
    await many.run(driver, { locks: [], first: 'A' }, { counts: [], leaseMs: 5 });
    expect(driver.calls).toEqual([{ command: ['evalsha', 'cd34', '1', 'A', '5'], key: 'A' }]);
  });

  it('write the largest integers as plain digits', async () => {
    const driver = recordingDriver(['held']);
    await take.run(driver, keys, { ...args, leaseMs: Number.MAX_SAFE_INTEGER });
    expect(driver.calls[0]?.command[6]).toBe('9007199254740991');
  });
});

describe('a number that is not a safe integer', () => {
  it.each([1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])('is refused: %s', (leaseMs) => {
    const driver = recordingDriver(['held']);
    expect(() => take.run(driver, keys, { ...args, leaseMs })).toThrow(
      new TypeError(`A script takes safe integers, not ${leaseMs}`),
    );
    expect(driver.calls).toEqual([]);
  });

  it('is refused in a list', () => {
    const driver = recordingDriver(['named']);
    const call = () => many.run(driver, { first: 'A', locks: [] }, { leaseMs: 1, counts: [1, 0.5] });
    expect(call).toThrow(new TypeError('A script takes safe integers, not 0.5'));
    expect(driver.calls).toEqual([]);
  });
});

describe('NOSCRIPT', () => {
  it('is followed by the source, with the same keys and arguments', async () => {
    const driver = recordingDriver(new Error('NOSCRIPT No matching script. Please use EVAL.'), ['held']);
    expect(await take.run(driver, keys, args)).toEqual({ status: 'held' });
    const parameters = ['2', 'L', 'E', 'me', '30000', Buffer.from([0xff, 0x00])];
    expect(driver.calls).toEqual([
      { command: ['evalsha', 'ab12', ...parameters], key: 'L' },
      { command: ['eval', 'return 1', ...parameters], key: 'L' },
    ]);
  });

  it('passes every other error through and sends nothing more', async () => {
    const error = new Error('ERR something with NOSCRIPT inside');
    const driver = recordingDriver(error, ['held']);
    await expect(take.run(driver, keys, args)).rejects.toBe(error);
    expect(driver.calls).toHaveLength(1);
  });

  it('returns the answer to the source', async () => {
    const error = new Error('OOM command not allowed');
    const driver = recordingDriver(new Error('NOSCRIPT'), error);
    await expect(take.run(driver, keys, args)).rejects.toBe(error);
  });
});

describe('a reply', () => {
  it.each<[ScriptReply, object]>([
    [['held'], { status: 'held' }],
    [['busy', 12, 'you'], { status: 'busy', remainingMs: 12, holder: 'you' }],
    [['busy', '9007199254740991', 'you'], { status: 'busy', remainingMs: 9007199254740991, holder: 'you' }],
    [['busy', '-1', null], { status: 'busy', remainingMs: -1, holder: null }],
    [['busy', 12], { status: 'busy', remainingMs: 12, holder: null }],
    [['busy', 0, ''], { status: 'busy', remainingMs: 0, holder: '' }],
  ])('%j is decoded', async (reply, decoded) => {
    expect(await take.run(recordingDriver(reply), keys, args)).toEqual(decoded);
  });

  it.each<[ScriptReply, object]>([
    [['renewed', 2, 1, '0'], { status: 'renewed', total: 2, held: [1, 0] }],
    [['renewed', 0], { status: 'renewed', total: 0, held: [] }],
    [['named', 'a', ''], { status: 'named', names: ['a', ''] }],
  ])('%j is decoded with its tail', async (reply, decoded) => {
    const run = many.run(recordingDriver(reply), { first: 'A', locks: [] }, { leaseMs: 1, counts: [] });
    expect(await run).toEqual(decoded);
  });

  it.each<[ScriptReply, string]>([
    [null, 'it is not an array: null'],
    [1, 'it is not an array: 1'],
    ['held', 'it is not an array: "held"'],
    [[], 'its first element is not a status of this script: []'],
    [['gone'], 'its first element is not a status of this script: ["gone"]'],
    [['constructor'], 'its first element is not a status of this script: ["constructor"]'],
    [[1, 'held'], 'its first element is not a status of this script: [1,"held"]'],
    [['held', 1], 'it is longer than declared: ["held",1]'],
    [['busy'], '"remainingMs" is not of type integer: ["busy"]'],
    [['busy', null, 'you'], '"remainingMs" is not of type integer: ["busy",null,"you"]'],
    [['busy', '1e3', 'you'], '"remainingMs" is not of type integer: ["busy","1e3","you"]'],
    [
      ['busy', '9007199254740993', 'you'],
      '"remainingMs" is not of type integer: ["busy","9007199254740993","you"]',
    ],
    [['busy', '', 'you'], '"remainingMs" is not of type integer: ["busy","","you"]'],
    [['busy', 1, 5], '"holder" is not of type string?: ["busy",1,5]'],
  ])('%j is refused', async (reply, why) => {
    const run = take.run(recordingDriver(reply), keys, args);
    await expect(run).rejects.toBeInstanceOf(OutcomeUnknownError);
    await expect(run).rejects.toHaveProperty('message', `unexpected reply of script lock/take: ${why}`);
  });

  it.each<[ScriptReply, string]>([
    [['renewed', 1, 1, 'x'], '"held" is not of type integer...: ["renewed",1,1,"x"]'],
    [['named', 'a', null], '"names" is not of type string...: ["named","a",null]'],
    [['named', 3], '"names" is not of type string...: ["named",3]'],
  ])('%j is refused for its tail', async (reply, why) => {
    const run = many.run(recordingDriver(reply), { first: 'A', locks: [] }, { leaseMs: 1, counts: [] });
    await expect(run).rejects.toThrow(
      new OutcomeUnknownError(`unexpected reply of script lock/many: ${why}`),
    );
  });

  it.each<[ScriptReply, object]>([
    [null, { status: 'held' }],
    [0, { status: 'busy', remainingMs: 0 }],
    [-1, { status: 'busy', remainingMs: -1 }],
    [['kept', 'out'], { status: 'kept', why: 'out' }],
    [['busy', 5], { status: 'busy', remainingMs: 5 }],
  ])('%j is decoded where replies travel bare', async (reply, decoded) => {
    expect(await lean.run(recordingDriver(reply), { lock: 'L' }, {})).toEqual(decoded);
  });

  it.each<[ScriptReply, string]>([
    ['QUEUED', 'it is not an array: "QUEUED"'],
    ['kept', 'it is not an array: "kept"'],
    ['held', 'it is not an array: "held"'],
  ])('%j is refused where replies travel bare', async (reply, why) => {
    await expect(lean.run(recordingDriver(reply), { lock: 'L' }, {})).rejects.toThrow(
      new OutcomeUnknownError(`unexpected reply of script lock/lean: ${why}`),
    );
  });

  it('is quoted in part when it is long', async () => {
    const run = take.run(recordingDriver(['held', 'x'.repeat(10_000)]), keys, args);
    const message = await run.catch((error: Error) => error.message);
    expect(message).toBe(
      `unexpected reply of script lock/take: it is longer than declared: ["held","${'x'.repeat(191)}…`,
    );
  });
});
