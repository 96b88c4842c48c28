/** The scripts of the fenced register: only the newest token writes. */
import { describe, expect, it } from 'vitest';
import { fencedRegisterRead, fencedRegisterWrite } from '../../src/scripts/generated.ts';
import { ScriptBench } from './script-bench.ts';

const bench = new ScriptBench();

async function register() {
  const name = bench.name();
  // A value that is kept is meant to stay.
  await bench.plant('DEL', name);
  return {
    name,
    write: (value: string, token: number, sequence: number) =>
      bench.run(fencedRegisterWrite, { register: name }, { value, token, sequence }),
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

  it('takes a higher token and the same one again', async () => {
    const { read, write } = await register();
    await write('a', 10, 1);
    expect(await write('b', 10, 2)).toEqual({ status: 'written' });
    expect(await write('c', 11, 1)).toEqual({ status: 'written' });
    expect(await read()).toEqual({ status: 'value', value: 'c', token: 11 });
  });

  it('refuses a lower token and says which one it has seen', async () => {
    const { read, write } = await register();
    await write('new', 1_700_000_000_000_002, 1);
    expect(await write('late', 1_700_000_000_000_001, 9)).toEqual({
      status: 'stale',
      token: 1_700_000_000_000_002,
    });
    expect(await read()).toEqual({ status: 'value', value: 'new', token: 1_700_000_000_000_002 });
  });

  it('a write that is delivered again does not undo the next of the same holder', async () => {
    const { read, write } = await register();
    await write('first', 10, 1);
    await write('second', 10, 2);
    expect(await write('first', 10, 1)).toEqual({ status: 'written' });
    expect(await read()).toEqual({ status: 'value', value: 'second', token: 10 });
  });

  it('leaves what is no register alone', async () => {
    const { name, write } = await register();
    await bench.command('SET', name, 'data', 'PX', 30_000);
    await expect(write('x', 1, 1)).rejects.toThrow('WRONGTYPE');
    expect(await bench.command('GET', name)).toBe('data');
  });
});

bench.itCoversEveryWordOf('fenced-register');
