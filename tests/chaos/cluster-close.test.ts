/** A client of a Cluster that is closed while it asks who has which slots. */
import { fileURLToPath } from 'node:url';
import { expect, it, vi } from 'vitest';
import { spawnChild } from '../harness/child.ts';
import { describeWithProcess, sharedCluster } from '../harness/servers.ts';
import { firstWord, WITH_CHILDREN_MS } from './support/first-word.ts';

vi.setConfig({ testTimeout: WITH_CHILDREN_MS });

const CHILD = fileURLToPath(new URL('./children/closes-cluster.ts', import.meta.url));
const ENDS_WITHIN_MS = 10_000;

describeWithProcess('a client of a Cluster', () => {
  it('that is closed while it asks for the slots lets its process end', async () => {
    const { addresses } = await sharedCluster();
    const child = spawnChild(CHILD, { args: [JSON.stringify(addresses)] });
    await firstWord(child, ({ connected }) => connected === true);
    await child.next(({ closed }) => closed === true);
    // The timer of the next refresh would keep it alive, and have it ask forever.
    const late = new Promise((resolve) => setTimeout(resolve, ENDS_WITHIN_MS, 'still there').unref());
    expect(await Promise.race([child.exited, late])).toEqual({ code: 0, signal: null });
  });
});
