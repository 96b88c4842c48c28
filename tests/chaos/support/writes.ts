import type { TestServer } from '../../../src/testing/index.ts';
import { openRaw } from '../../harness/servers.ts';
import { eventually } from '../../harness/wait.ts';

/** Watches which keys are written, in order. */
export async function writesTo(server: TestServer): Promise<{ until(marker: string): Promise<string[]> }> {
  await server.command('CONFIG', 'SET', 'notify-keyspace-events', 'Eh$');
  const watcher = await openRaw(server.host, server.port);
  const written: string[] = [];
  watcher.onMessage(({ message }) => written.push(message));
  await watcher.subscribe('__keyevent@0__:hset', '__keyevent@0__:set');
  return {
    /** Everything written so far, by the time that a key of our own comes by. */
    async until(marker) {
      await server.command('SET', marker, '');
      await eventually(() => written.includes(marker));
      return written.filter((key) => key !== marker);
    },
  };
}
