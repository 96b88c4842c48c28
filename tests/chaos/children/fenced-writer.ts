/**
 * Adds one to numbers under a fenced lock, and stalls between reading and writing as no program can notice:
 * `fenced-writer.ts <url> <name> <watchdogMs>`.
 *
 * One number is a register in Redis, one a plain key that nobody guards; the others belong to the test, which
 * reads and writes them when it is told to.
 */
import { Holdfast } from '../../../src/index.ts';
import { RawConnection } from '../../../src/testing/index.ts';
import { onOrder, tell } from '../../harness/in-child.ts';

const [url = '', name = '', watchdogMs = ''] = process.argv.slice(2);
const { hostname, port } = new URL(url);
const raw = await RawConnection.connect(hostname, Number(port));
const client = await Holdfast.connect(url, { watchdogMs: Number(watchdogMs) });
const register = client.getFencedRegister(name);

const hold = await client.getFencedLock(name).lock();
const { token } = hold;
const registered = Number((await register.read(token))?.value ?? 0);
const unguarded = Number((await raw.command('GET', `unguarded:${name}`)) ?? 0);
tell({ held: hold.owner, token });

/** Goes on as soon as the process runs again; the stop may come a little after the signal. */
function stall(): void {
  let last = performance.now();
  process.kill(process.pid, 'SIGSTOP');
  for (let now = performance.now(); now - last < 500; now = performance.now()) last = now;
}

async function writeLate(): Promise<void> {
  hold.assertHeld();
  stall();
  await raw.command('SET', `unguarded:${name}`, unguarded + 1);
  const written = await register.write(String(registered + 1), token).then(
    () => 'written',
    (error: { code: string }) => error.code,
  );
  tell({ register: written, isAborted: hold.signal.aborted, unlocked: await hold.unlock() });
}

onOrder(() => void writeLate());
