/** What needs a process of its own: `NODE_DEBUG`, and subscribers that throw. */
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { spawnChild } from '../harness/child.ts';
import { randomName } from '../harness/names.ts';
import { sharedServer } from '../harness/servers.ts';

function child(file: string) {
  return fileURLToPath(new URL(`children/${file}.ts`, import.meta.url));
}

async function debugged(debug: string): Promise<{ name: string; lines: string[] }> {
  const name = randomName();
  const process = spawnChild(child('debugged'), {
    args: [sharedServer().url, name],
    env: { NODE_DEBUG: debug },
  });
  const { code } = await process.exited;
  expect(code, process.stderr).toBe(0);
  const lines = process.stderr.split('\n').filter((line) => line.startsWith('HOLDFAST'));
  return {
    name,
    lines: lines.map((line) => line.replace(/^HOLDFAST \d+: /, '').replace(/[\d.]+ ms/, 'n ms')),
  };
}

describe('NODE_DEBUG=holdfast', () => {
  it('prints a line for every operation and event', async () => {
    const { name, lines } = await debugged('holdfast');
    const [, id = ''] = /client (\S+) asks/.exec(lines[0] ?? '') ?? [];
    const lock = `lock "${name}"`;
    expect(lines).toEqual([
      `acquire ${lock}: client ${id} asks`,
      `acquire ${lock}: granted to ${id}:1 after n ms, attempts: 1`,
      `release ${lock}: released by ${id}:1`,
      `hold ${lock}: released by ${id}:1 after n ms`,
      `acquire ${lock}: client ${id} asks`,
      `acquire ${lock}: granted to ${id}:2 after n ms, attempts: 1`,
      `acquire ${lock}: client ${id} asks`,
      `acquire ${lock}: timeout after n ms, attempts: 1, contended`,
      `hold ${lock}: lost (forced) by ${id}:2 after n ms`,
      `lost ${lock}: by ${id}:2 (forced)`,
      `release ${lock}: released by ${id}:2`,
    ]);
  });

  it('prints one line for every kind of message, whatever its text', async () => {
    const process = spawnChild(child('told'), { env: { NODE_DEBUG: 'holdfast' } });
    const { code } = await process.exited;
    expect(code, process.stderr).toBe(0);
    const lines = process.stderr.trimEnd().split('\n');
    const lock = String.raw`lock "a\nb\u{2028}c"`;
    const owner = String.raw`o\np`;
    const error = String.raw`first\nsecond \u{1b}[31mred\u{9b}`;
    expect(lines.map((line) => line.replace(/^HOLDFAST \d+: /, ''))).toEqual([
      `acquire ${lock}: client me asks`,
      `acquire ${lock}: failed to ${owner} after 1.3 ms, attempts: 2, contended: ${error}`,
      `hold ${lock}: lost (forced) by ${owner} after 2 ms`,
      `hold ${lock}: released after 2 ms`,
      `release ${lock}: failed by ${owner}: ${error}`,
      `release ${lock}: released`,
      'renew: holds: 3, gone: 1',
      `renew: holds: 3, failed: ${error}`,
      String.raw`wake: subscribed channel:{a\nb\u{2028}c}`,
      `lost ${lock}: by ${owner} (expired)`,
      `atRisk ${lock}: of ${owner}, left: 3 ms: ${error}`,
      'stalled: for 4 ms',
      String.raw`warning HOLDFAST_DISK: full\ndisk`,
      String.raw`error: release "a\nb\u{2028}c": thrown\ntext`,
    ]);
  });

  it('prints nothing where NODE_DEBUG names something else', async () => {
    expect((await debugged('net')).lines).toEqual([]);
  });
});

describe('a subscriber that throws', () => {
  it('does not reach the core: Node.js reports its errors', async () => {
    const process = spawnChild(child('throwing'), { args: [sharedServer().url, randomName()] });
    const { code } = await process.exited;
    expect(code, process.stderr).toBe(0);
    const steps = (channel: string) =>
      ['start', 'end', 'asyncStart', 'asyncEnd'].map((step) => `${channel} ${step}`);
    expect(process.messages).toEqual([
      {
        unlocked: true,
        aborted: true,
        refused: 'no',
        thrown: [...steps('acquire'), 'acquire error', ...steps('hold'), ...steps('release'), 'lost'].sort(),
      },
    ]);
  });
});
