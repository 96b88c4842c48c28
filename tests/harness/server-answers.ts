/** What the servers of a topology say about themselves, also when some of them are dead or frozen. */
import { type RawArgument, RawError, type RawReply, type TestServer } from '../../src/testing/index.ts';

const SILENT_AFTER_MS = 1_000;

export type Command = [RawArgument, ...RawArgument[]];

/** The answer of a server; undefined when it is dead, or silent for a second, as a frozen one is. */
export async function answerOf(server: TestServer, ...command: Command): Promise<RawReply | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), SILENT_AFTER_MS);
  });
  try {
    return await Promise.race([server.command(...command), silence]);
  } catch (error) {
    if (error instanceof RawError) throw error;
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}

function parseLines(text: RawReply): Map<string, string> {
  const lines = String(text).split('\r\n');
  return new Map(lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]));
}

/** A section of INFO; undefined when the server is dead or silent. */
export async function infoOf(server: TestServer, section: string): Promise<Map<string, string> | undefined> {
  const text = await answerOf(server, 'INFO', section);
  return text === undefined ? undefined : parseLines(text);
}

/** CLUSTER INFO; undefined when the server is dead or silent. */
export async function clusterInfoOf(server: TestServer): Promise<Map<string, string> | undefined> {
  const text = await answerOf(server, 'CLUSTER', 'INFO');
  return text === undefined ? undefined : parseLines(text);
}
