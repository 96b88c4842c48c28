/** `watch`, in a pipe and at a terminal. */
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { Holdfast } from '../../src/index.ts';
import { randomName } from '../harness/names.ts';
import { sharedServer } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';
import { RunningCli, runCli } from './support/cli.ts';
import { describeAtTerminal, Terminal } from './support/terminal.ts';

const WITHIN = { timeout: 90_000 };
const ENTERED = '\x1b[?1049h\x1b[?25l';
const RESTORED = '\x1b[?25h\x1b[?1049l';

let env: Record<string, string>;
beforeAll(() => {
  env = { HOLDFAST_URL: sharedServer().url };
});

async function connect(): Promise<Holdfast> {
  const client = await Holdfast.connect(sharedServer().url, { label: 'billing 7' });
  onTestFinished(() => client.close());
  return client;
}

/** What was drawn last. */
function lastPicture(output: string): string {
  return output.split('\x1b[H').at(-1) ?? '';
}

describe('holdfast watch in a pipe', WITHIN, () => {
  it('prints one listing after the other, in order', async () => {
    const prefix = randomName('watch');
    const client = await connect();
    await client.getLock(`${prefix}:long`).lock({ leaseMs: 600_000 });
    await client.getLock(`${prefix}:short`).lock({ leaseMs: 60_000 });
    await client.getRateLimiter(`${prefix}:rate`).trySetRate({ mode: 'overall', rate: 1, intervalMs: 1_000 });
    const args = ['watch', `${prefix}:*`, '--every', '20ms', '--times', '2', '--held', '--sort', 'left'];
    const { code, stdout, stderr } = await runCli(args, env);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).not.toContain('\x1b');
    const names = stdout.split('\n').flatMap((line) => line.match(/:(long|short|rate) /)?.[1] ?? []);
    expect(names).toEqual(['short', 'long', 'short', 'long']);
  });

  it('writes an object on each line, until a signal', async () => {
    const name = randomName('watch');
    const client = await connect();
    const cli = new RunningCli(['watch', name, '--json', '--every', '10ms'], env);
    await eventually(() => cli.stdout.includes('"found":[]'), { withinMs: 30_000 });
    const hold = await client.getLock(name).lock();
    await eventually(() => cli.stdout.includes(hold.owner), { withinMs: 30_000 });
    cli.signal('SIGTERM');
    const { code, stdout } = await cli.ended;
    expect(code).toBe(143);
    const last = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '');
    expect(last).toMatchObject({ at: expect.any(String), found: [{ name, kind: 'lock' }] });
  });
});

describeAtTerminal('holdfast watch at a terminal', () => {
  it('shows locks live, changes the order, and restores the terminal', WITHIN, async () => {
    const prefix = randomName('watch');
    const client = await connect();
    const terminal = new Terminal(['watch', `${prefix}:*`, '--every', '50ms'], env, 'stty -a');
    await eventually(() => lastPicture(terminal.output).includes('0 found'), { withinMs: 30_000 });
    expect(terminal.output).toContain(ENTERED);
    const hold = await client.getLock(`${prefix}:gate`).lock({ leaseMs: 600_000 });
    const urgent = await client.getLock(`${prefix}:urgent`).lock({ leaseMs: 4_900 });
    const isShownInRed = async () => {
      // On a busy machine a look takes longer than this lease.
      await urgent.extend(4_900);
      return lastPicture(terminal.output).includes(`\x1b[31m${prefix}:urgent `);
    };
    await eventually(isShownInRed, { withinMs: 30_000 });
    expect(lastPicture(terminal.output)).toContain('billing 7');
    expect(lastPicture(terminal.output)).toContain('\x1b[1mNAME');
    terminal.type('s');
    await eventually(() => terminal.output.includes('by left'), { withinMs: 30_000 });
    await hold.unlock();
    await eventually(() => !lastPicture(terminal.output).includes(':gate'), { withinMs: 30_000 });
    terminal.type('q');
    expect(await terminal.ended).toBe(0);
    const after = terminal.output.split(RESTORED);
    expect(after).toHaveLength(2);
    expect(after[1]).toMatch(/[^-]icanon/);
  });

  it('restores the terminal after Ctrl-C, and has no colours with NO_COLOR', WITHIN, async () => {
    const terminal = new Terminal(['watch', randomName('watch')], { ...env, NO_COLOR: '1' }, 'stty -a');
    await eventually(() => terminal.output.includes('0 found'), { withinMs: 30_000 });
    terminal.type('\x03');
    expect(await terminal.ended).toBe(130);
    expect(terminal.output).toContain(RESTORED);
    // A colour, or bold or dim text.
    for (const code of [1, 2, 22, 31, 39]) expect(terminal.output).not.toContain(`\x1b[${code}m`);
    expect(terminal.output.split(RESTORED)[1]).toMatch(/[^-]icanon/);
  });

  it('has the terminal of `run` for its command', WITHIN, async () => {
    const script = 'test -t 0 && test -t 1 && read -r word && echo "got $word"';
    const terminal = new Terminal(['run', randomName('run'), '--', 'sh', '-c', script], env);
    terminal.type('hello\n');
    expect(await terminal.ended).toBe(0);
    expect(terminal.output).toContain('got hello');
  });
});
