/** Random steps against a real object and a plain model of it, which are compared after every step. */
import fc from 'fast-check';
import { type ClientOptions, Holdfast } from '../../../src/index.ts';
import type { RawConnection } from '../../../src/testing/index.ts';
import { closedAtEnd } from '../../behaviour/support/context.ts';
import { randomName } from '../../harness/names.ts';
import { openShared, sharedServer } from '../../harness/servers.ts';
import { runs } from './runs.ts';

type Together<Model, Real> = (model: Model, real: Real) => Promise<void>;

/** Makes one step of what both sides do. `can` says whether the model allows it now. */
export type StepMaker<Model extends object, Real> = (
  title: string,
  run: Together<Model, Real>,
  can?: (model: Model) => boolean,
) => fc.AsyncCommand<Model, Real>;

/** @param check compares the real object with the model, after every step */
export function stepsWith<Model extends object, Real>(check: Together<Model, Real>): StepMaker<Model, Real> {
  return (title, run, can = () => true) => ({
    toString: () => title,
    check: can,
    run: async (model, real) => {
      await run(model, real);
      await check(model, real);
    },
  });
}

/** Two clients of the shared server that know nothing of each other. They are closed when the test ends. */
export async function twoClients(options?: ClientOptions): Promise<[Holdfast, Holdfast]> {
  const connect = async () => closedAtEnd(await Holdfast.connect(sharedServer().url, options));
  return [await connect(), await connect()];
}

/** Which of the two clients acts. */
export const who = fc.integer({ min: 0, max: 1 });

interface Place {
  readonly raw: RawConnection;
  readonly name: string;
  readonly clients: readonly Holdfast[];
}

/** Tries many sequences of these steps on a counter that two clients share. */
export async function agree<Model extends object, Real>({
  steps,
  many,
  begin,
  end,
  ...lengths
}: {
  readonly steps: fc.Arbitrary<fc.AsyncCommand<Model, Real>>[];
  readonly many: number;
  /** For each sequence: a new counter, and a model of it. */
  begin(place: Place): { model: Model; real: Real } | Promise<{ model: Model; real: Real }>;
  end(real: Real): Promise<void>;
} & Pick<fc.CommandsContraints, 'maxCommands' | 'size'>): Promise<void> {
  const raw = await openShared();
  const clients = await twoClients();
  const run = async (commands: Iterable<fc.AsyncCommand<Model, Real>>) => {
    const { model, real } = await begin({ raw, name: randomName('model'), clients });
    try {
      await fc.asyncModelRun(() => ({ model, real }), commands);
    } finally {
      await end(real);
    }
  };
  await fc.assert(fc.asyncProperty(fc.commands(steps, lengths), run), {
    numRuns: runs(many),
    interruptAfterTimeLimit: 12_000,
    endOnFailure: true,
  });
}
