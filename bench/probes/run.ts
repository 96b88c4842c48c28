/**
 * Prints what the libraries do when something goes wrong, as a table: what `docs/comparison.md` says of them was seen
 * here. One process for each probe of each library, since some of them end their process. Needs `redis-server` or
 * `valkey-server`, the packages of the bench, and Node.js 22 or newer for all of the libraries.
 */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { startFaultProxy, startServer } from '../../src/testing/index.ts';
import { LIBRARIES } from './libraries.ts';
import { LEASE_MS, PROBES } from './probes.ts';

async function probe(libraryAt: number, probeAt: number): Promise<string> {
  const library = LIBRARIES[libraryAt];
  const asked = PROBES[probeAt];
  if (library === undefined || asked === undefined) throw new Error('There is no such probe');
  const server = await startServer();
  const proxy = await startFaultProxy({ host: server.host, port: server.port });
  const redis = new Redis(server.url);
  try {
    return await asked.run({ library, proxy, redis, open: () => library.open(proxy.url, LEASE_MS) });
  } finally {
    redis.disconnect();
    await proxy.close();
    await server.close();
  }
}

/** Runs one probe in a process of its own; the answer is its last line. */
function spawnProbe(libraryAt: number, probeAt: number): Promise<string> {
  const args = [...process.execArgv, fileURLToPath(import.meta.url), String(libraryAt), String(probeAt)];
  return new Promise((resolve) => {
    execFile(process.execPath, args, { timeout: 60_000 }, (error, stdout, stderr) => {
      const said = stdout.trim().split('\n').at(-1) ?? '';
      if (said !== '') resolve(said);
      else resolve(`the process ends: ${(stderr.match(/^\w*Error.*$/m) ?? [error?.message])[0]}`);
    });
  });
}

const [libraryAt, probeAt] = process.argv.slice(2);
if (libraryAt !== undefined && probeAt !== undefined) {
  console.log(await probe(Number(libraryAt), Number(probeAt)));
  process.exit(0);
}

for (const [at, { title }] of PROBES.entries()) {
  console.log(`\n${title}\n\n| | |\n|---|---|`);
  for (const [i, library] of LIBRARIES.entries())
    console.log(`| ${library.title} | ${await spawnProbe(i, at)} |`);
}
