/** A client that is wrong on purpose: one of its scripts is another than ours. */
import { Redis } from 'ioredis';
import { onTestFinished } from 'vitest';
import { intercept, PatchedScript, patching, type SentScript } from '../../../chaos/mutants/interceptor.ts';
import { Holdfast } from '../../../src/index.ts';
import type { Place } from './ways.ts';

/** A client whose script differs in this one place, closed when the test ends. */
export async function patchedClient(
  { host, port }: Place,
  script: SentScript,
  place: readonly [replace: string, by: string],
): Promise<Holdfast> {
  const redis = intercept(new Redis(port, host), patching(new PatchedScript(script, place)));
  redis.on('error', () => {});
  await redis.ping();
  const client = Holdfast.from(redis);
  onTestFinished(async () => {
    await client.close();
    redis.disconnect();
  });
  return client;
}
