/** The source files that an uncontended call passes: what a reader has to see to understand it. */
import { Session } from 'node:inspector/promises';
import { join, sep } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { Holdfast } from '../../src/index.ts';
import { randomName } from '../harness/names.ts';
import { sharedServer } from '../harness/servers.ts';
import { FILES_OF_LOCK } from './budget.ts';

const SOURCES = join(import.meta.dirname, '../../src') + sep;

/** Makes the call; answers the files below `src/` of which it called a function. */
async function filesPassedBy(call: () => Promise<unknown>): Promise<string[]> {
  const session = new Session();
  session.connect();
  onTestFinished(() => session.disconnect());
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true });
  await call();
  const { result } = await session.post('Profiler.takePreciseCoverage');
  // Functions without a name are, for the most part, the getters by which vitest's modules export.
  const called = result.filter(({ functions }) =>
    functions.some(({ functionName, ranges }) => functionName !== '' && (ranges[0]?.count ?? 0) > 0),
  );
  return called
    .map(({ url }) => url.replace(/^file:\/\//, ''))
    .filter((path) => path.startsWith(SOURCES))
    .map((path) => path.slice(SOURCES.length, -'.ts'.length));
}

it('lock() passes these files from the call to the socket and back, and no other', async () => {
  const client = await Holdfast.connect(sharedServer().url);
  onTestFinished(() => client.close());
  const lock = client.getLock(randomName());
  // Loads the scripts, and asks the server what it can do.
  await (await lock.lock()).unlock();
  const passed = await filesPassedBy(() => lock.lock());
  expect(passed.toSorted()).toEqual([...FILES_OF_LOCK].toSorted());
});
