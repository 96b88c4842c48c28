/** The scripts of the fenced register: only the newest token writes. */
import { describe, expect, it } from 'vitest';
import { fencedRegisterClaim, fencedRegisterRead, fencedRegisterWrite } from '../../src/scripts/generated.ts';
import { describeWithProcess, openRaw, ownServer } from '../harness/servers.ts';
import { ScriptBench } from './support/script-bench.ts';

const bench = new ScriptBench();

async function register() {
  const name = bench.name();
  // A value that is kept is meant to stay.
  await bench.plant('DEL', name);
  return {
    name,
    write: (value: string, token: number, sequence: number, writer = 'c') =>
      bench.run(fencedRegisterWrite, { register: name }, { value, token, writer, sequence }),
    claim: (token: number) => bench.run(fencedRegisterClaim, { register: name }, { token }),
    read: () => bench.run(fencedRegisterRead, { register: name }, {}),
  };
}

describe('fenced-register', () => {
  it('is empty until something is written', async () => {
    const { read, write } = await register();
    expect(await read()).toEqual({ status: 'empty' });
    expect(await write('first', 1_700_000_000_000_001, 1)).toEqual({ status: 'written' });
    expect(await read()).toEqual({ status: 'value', value: 'first', token: 1_700_000_000_000_001 });
  });

  it('accepts a higher token and the same token again', async () => {
    const { read, write } = await register();
    await write('a', 10, 1);
    expect(await write('b', 10, 2)).toEqual({ status: 'written' });
    expect(await write('c', 11, 1)).toEqual({ status: 'written' });
    expect(await read()).toEqual({ status: 'value', value: 'c', token: 11 });
  });

  it('refuses a lower token and names the newest one', async () => {
    const { read, write } = await register();
    await write('new', 1_700_000_000_000_002, 1);
    expect(await write('late', 1_700_000_000_000_001, 9)).toEqual({
      status: 'stale',
      token: 1_700_000_000_000_002,
    });
    expect(await read()).toEqual({ status: 'value', value: 'new', token: 1_700_000_000_000_002 });
  });

  it('a write that is delivered again does not undo the next write of the same holder', async () => {
    const { read, write } = await register();
    await write('first', 10, 1);
    await write('second', 10, 2);
    expect(await write('first', 10, 1)).toEqual({ status: 'written' });
    expect(await read()).toEqual({ status: 'value', value: 'second', token: 10 });
  });

  it('accepts the writes of two writers with one token in order of arrival, each with its own numbers', async () => {
    const { read, write } = await register();
    await write('of the holder', 10, 7);
    expect(await write('of its child', 10, 1, 'd')).toEqual({ status: 'written' });
    expect(await read()).toEqual({ status: 'value', value: 'of its child', token: 10 });
    expect(await write('of the holder', 10, 7)).toEqual({ status: 'written' });
    expect(await read()).toEqual({ status: 'value', value: 'of its child', token: 10 });
  });

  it('keeps the number of a write for as long as its token is the newest', async () => {
    const { name, write } = await register();
    await write('a', 10, 1);
    await write('b', 10, 1, 'd');
    expect(await bench.hash(name)).toEqual({
      value: 'b',
      token: '10',
      newest: '10',
      'writer:c': '1',
      'writer:d': '1',
    });
    await write('c', 11, 2);
    expect(await bench.hash(name)).toEqual({ value: 'c', token: '11', newest: '11', 'writer:c': '2' });
  });

  it('claimed with a token, refuses lower tokens though nothing was written with it', async () => {
    const { read, write, claim } = await register();
    expect(await claim(10)).toEqual({ status: 'empty' });
    expect(await read()).toEqual({ status: 'empty' });
    await write('a', 10, 1);
    expect(await claim(12)).toEqual({ status: 'value', value: 'a', token: 10 });
    expect(await write('late', 10, 2)).toEqual({ status: 'stale', token: 12 });
    expect(await claim(11)).toEqual({ status: 'stale', token: 12 });
    expect(await claim(12)).toEqual({ status: 'value', value: 'a', token: 10 });
    expect(await read()).toEqual({ status: 'value', value: 'a', token: 10 });
  });

  it('does not change a key that is not a register', async () => {
    const { name, write, claim, read } = await register();
    await bench.command('SET', name, 'data', 'PX', 30_000);
    for (const asked of [write('x', 1, 1), claim(1), read()]) {
      await expect(asked).rejects.toThrow('WRONGTYPE');
    }
    expect(await bench.command('GET', name)).toBe('data');
  });
});

describeWithProcess('fenced-register on a full server', () => {
  it('accepts neither a value nor a token', async () => {
    const server = await ownServer();
    const connection = await openRaw(server.host, server.port);
    const keys = { register: 'full' };
    const first = { value: 'before', token: 1, writer: 'c', sequence: 1 };
    await bench.run(fencedRegisterWrite, keys, first, connection);
    await connection.command('CONFIG', 'SET', 'maxmemory', '1');
    for (const token of [1, 2]) {
      const writing = bench.run(fencedRegisterWrite, keys, { ...first, token, sequence: 2 }, connection);
      await expect(writing).rejects.toThrow('OOM');
    }
    await expect(bench.run(fencedRegisterClaim, keys, { token: 2 }, connection)).rejects.toThrow('OOM');
    const found = await bench.run(fencedRegisterRead, keys, {}, connection);
    expect(found).toEqual({ status: 'value', value: 'before', token: 1 });
    expect(await connection.command('HGET', 'full', 'newest')).toBe('1');
  });
});

bench.itCoversEveryWordOf('fenced-register');
