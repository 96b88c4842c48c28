/**
 * The fenced register against a plain model of it: writes and claims with tokens in any order, by two writers,
 * and copies of writes that arrive at any later time, leave what the newest token wrote last.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fencedRegisterClaim, fencedRegisterRead, fencedRegisterWrite } from '../../src/scripts/generated.ts';
import type { RawConnection } from '../../src/testing/index.ts';
import { randomName } from '../harness/names.ts';
import { openShared } from '../harness/servers.ts';
import { rawDriver } from '../lua/support/script-bench.ts';
import { runs } from './support/runs.ts';

/** As large as real ones, close to each other. */
const FIRST_TOKEN = 1_794_742_505_199_681;
const WRITERS = ['a', 'b'];

interface Write {
  readonly value: string;
  readonly token: number;
  readonly writer: string;
  readonly sequence: number;
}

interface Model {
  newest: number;
  last: Write | null;
  readonly sent: Write[];
}

interface Real {
  readonly connection: RawConnection;
  readonly register: string;
}

type Step = fc.AsyncCommand<Model, Real, false>;

async function check(model: Model, { connection, register }: Real): Promise<void> {
  const reply = await fencedRegisterRead.run(rawDriver(connection), { register }, {});
  const { last } = model;
  expect(reply).toEqual(
    last === null ? { status: 'empty' } : { status: 'value', value: last.value, token: last.token },
  );
}

/** What the register must answer, and whether it may take it. */
function verdict(model: Model, token: number) {
  const isStale = token < model.newest;
  model.newest = Math.max(model.newest, token);
  return isStale ? { status: 'stale', token: model.newest } : undefined;
}

const deliver = (write: Write, { connection, register }: Real) =>
  fencedRegisterWrite.run(rawDriver(connection), { register }, { ...write });

function writing(writer: string, ahead: number): Step {
  return {
    check: () => true,
    run: async (model, real) => {
      const sequence = model.sent.length + 1;
      const write = { value: `value ${sequence}`, token: FIRST_TOKEN + ahead, writer, sequence };
      model.sent.push(write);
      const refusal = verdict(model, write.token);
      expect(await deliver(write, real)).toEqual(refusal ?? { status: 'written' });
      if (refusal === undefined) model.last = write;
      await check(model, real);
    },
    toString: () => `${writer} writes with ${ahead}`,
  };
}

/** A copy of something sent before: it is refused, or told that it is written, and changes nothing. */
function repeating(which: number): Step {
  return {
    check: ({ sent }) => sent.length > 0,
    run: async (model, real) => {
      const write = model.sent[which % model.sent.length] as Write;
      expect(await deliver(write, real)).toEqual(verdict(model, write.token) ?? { status: 'written' });
      await check(model, real);
    },
    toString: () => `copy ${which} arrives`,
  };
}

function claiming(ahead: number): Step {
  return {
    check: () => true,
    run: async (model, real) => {
      const token = FIRST_TOKEN + ahead;
      const refusal = verdict(model, token);
      const { connection, register } = real;
      const reply = await fencedRegisterClaim.run(rawDriver(connection), { register }, { token });
      const { last } = model;
      const found =
        last === null ? { status: 'empty' } : { status: 'value', value: last.value, token: last.token };
      expect(reply).toEqual(refusal ?? found);
      await check(model, real);
    },
    toString: () => `${ahead} claims it`,
  };
}

const ahead = fc.integer({ min: 0, max: 4 });
const steps = fc.commands<Model, Real, false>(
  [
    fc.tuple(fc.constantFrom(...WRITERS), ahead).map((given) => writing(...given)),
    fc.nat({ max: 40 }).map(repeating),
    ahead.map(claiming),
  ],
  { maxCommands: 40, size: 'max' },
);

describe('the fenced register and its model', () => {
  it('agree after every step of any sequence', async () => {
    const connection = await openShared();
    await fc.assert(
      fc.asyncProperty(steps, async (commands) => {
        const register = randomName();
        const setup = () => ({
          model: { newest: 0, last: null, sent: [] } as Model,
          real: { connection, register },
        });
        await fc.asyncModelRun(setup, commands);
        await connection.command('DEL', register);
      }),
      { numRuns: runs(100) },
    );
  });
});
