/** Runs the demo from source as a person would, without a terminal, and reads its table. */
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { onTestFinished } from 'vitest';

const bin = fileURLToPath(new URL('../../../src/cli/bin.ts', import.meta.url));
const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;

export interface Run {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A run under way. */
export class RunningCli {
  readonly ended: Promise<Run>;
  readonly #process: ReturnType<typeof spawn>;
  #stdout = '';
  #stderr = '';

  constructor(args: readonly string[], env: Readonly<Record<string, string>>) {
    const { REDIS_URL: _ours, ...inherited } = process.env;
    this.#process = spawn(process.execPath, ['--import', tsx, bin, ...args], {
      env: { ...inherited, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#process.stdout?.on('data', (chunk: Buffer) => {
      this.#stdout += chunk.toString();
    });
    this.#process.stderr?.on('data', (chunk: Buffer) => {
      this.#stderr += chunk.toString();
    });
    this.ended = new Promise((resolve) => {
      this.#process.once('close', (code) => resolve({ code, stdout: this.#stdout, stderr: this.#stderr }));
    });
    onTestFinished(async () => {
      this.#process.kill('SIGKILL');
      await this.ended;
    });
  }

  /** What it has printed so far. */
  get stdout(): string {
    return this.#stdout;
  }

  interrupt(): void {
    this.#process.kill('SIGINT');
  }
}

/** Runs a command to its end. */
export function runCli(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Run> {
  return new RunningCli(args, env).ended;
}

/** The table at the end of the demo: `scene / label` → value. */
export function readTable(stdout: string): Map<string, string> {
  const facts = new Map<string, string>();
  const rule = /^ +─+$/m;
  const [, body = ''] = stdout.split(rule);
  let scene = '';
  for (const line of body.split('\n').filter((text) => text.trim() !== '')) {
    const cells = line.trim().split(/ {3,}/);
    if (cells.length === 3) scene = cells.shift()?.replace(/^[✓✗] /, '') ?? '';
    facts.set(`${scene} / ${cells[0]}`, cells[1] ?? '');
  }
  return facts;
}

/** The numbers in a text, in order; `1,234` is one. */
export function numbersIn(text: string | undefined): number[] {
  return [...(text ?? '').matchAll(/\d[\d,]*/g)].map(([digits]) => Number(digits.replaceAll(',', '')));
}
