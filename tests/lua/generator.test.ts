/** A script that the generator writes runs on a server. What the generator writes and refuses, its unit test shows. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import type { Script } from '../../src/scripts/script.ts';
import { buildLua } from '../../tools/build-lua.ts';
import { openShared } from '../harness/servers.ts';
import { rawDriver } from './support/script-bench.ts';

const TWICE = '--- Twice.\nlocal function twice(n)\n  return 2 * n\nend\n';
const SUM = `--- Adds up.
--- @keys locks string
--- @arg start integer
--- @args counts integer
--- @include lib/twice
--- @returns { 'summed', sum, names: string... }
local sum = twice(start)
for _, count in ipairs(counts) do
  sum = sum + count -- a Lua number
end
return { 'summed', string.format('%.0f', sum), unpack(locks) }
`;

type Sum = Script<
  { locks: string[] },
  { start: number; counts: number[] },
  { status: string; sum: number; names: string[] }
>;

/** The script as the generated file exports it. */
async function generate(): Promise<Sum> {
  const root = mkdtempSync(join(tmpdir(), 'holdfast-lua-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  for (const folder of ['lua/lib', 'lua/lock', 'src/scripts'])
    mkdirSync(join(root, folder), { recursive: true });
  writeFileSync(join(root, 'lua/lib/twice.lua'), TWICE);
  writeFileSync(join(root, 'lua/lock/sum.lua'), SUM);
  expect(buildLua(root, [], () => undefined)).toBe(0);
  const path = join(root, 'src/scripts/generated.ts');
  const doorway = fileURLToPath(new URL('../../src/scripts/script.ts', import.meta.url));
  writeFileSync(path, readFileSync(path, 'utf8').replace("'./script.ts'", `'${doorway}'`));
  const { lockSum }: { lockSum: Sum } = await import(pathToFileURL(path).href);
  return lockSum;
}

it('runs, and is cached under its SHA-1', async () => {
  const sum = await generate();
  const server = await openShared();
  const reply = { status: 'summed', sum: 27, names: ['a', 'b'] };
  const args = { start: 10, counts: [3, -4, 8] };
  expect(await sum.run(rawDriver(server), { locks: ['a', 'b'] }, args)).toEqual(reply);
  expect(await server.command('SCRIPT', 'EXISTS', sum.sha1)).toEqual([1]);
});
