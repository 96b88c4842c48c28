/** A Prometheus that scrapes one address and evaluates the alerts of docs/, and questions to its HTTP interface. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findFreePort } from '../../../src/embedded/free-port.ts';
import { prometheusPrograms } from '../../harness/prometheus-programs.ts';
import { eventually } from '../../harness/wait.ts';

/** How often it looks; often enough that a test need not wait, and with time for a busy machine to answer. */
const EVERY = '500ms';
const READY_WITHIN_MS = 30_000;

/** One series of an answer. */
export interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Alert {
  readonly labels: Readonly<Record<string, string>>;
  readonly state: 'pending' | 'firing';
}

export interface Rule {
  readonly name: string;
  readonly query: string;
  readonly health: string;
}

/** What its tool says about a file of rules; rejects if that is a mistake. */
export async function checkRules(file: string): Promise<string> {
  const { promtool } = await prometheusPrograms();
  return (await promisify(execFile)(promtool, ['check', 'rules', file])).stdout;
}

function configuration(target: string, rules: string): string {
  // YAML takes JSON.
  return JSON.stringify({
    global: { scrape_interval: EVERY, scrape_timeout: EVERY, evaluation_interval: EVERY },
    rule_files: [rules],
    scrape_configs: [{ job_name: 'worker', static_configs: [{ targets: [target] }] }],
  });
}

export class Prometheus {
  readonly #process: ChildProcess;
  readonly #url: string;
  readonly #folder: string;
  #said = '';

  private constructor(process: ChildProcess, url: string, folder: string) {
    this.#process = process;
    this.#url = url;
    this.#folder = folder;
    process.stderr?.on('data', (chunk: Buffer) => {
      this.#said += chunk.toString();
    });
  }

  /** @param target host and port that serve `/metrics` */
  static async start(target: string, rules: string): Promise<Prometheus> {
    const { prometheus } = await prometheusPrograms();
    const folder = await mkdtemp(join(tmpdir(), 'holdfast-prometheus-'));
    const config = join(folder, 'prometheus.yml');
    await writeFile(config, configuration(target, rules));
    const address = `127.0.0.1:${await findFreePort()}`;
    const started = spawn(
      prometheus,
      [
        `--config.file=${config}`,
        `--storage.tsdb.path=${join(folder, 'data')}`,
        `--web.listen-address=${address}`,
      ],
      { stdio: ['ignore', 'ignore', 'pipe'] },
    );
    const server = new Prometheus(started, `http://${address}`, folder);
    try {
      await eventually(() => server.#isReady(), { withinMs: READY_WITHIN_MS, everyMs: 50 });
    } catch (error) {
      await server.close();
      throw new Error(`Prometheus did not start: ${server.#said}`, { cause: error });
    }
    return server;
  }

  async #isReady(): Promise<boolean> {
    if (this.#process.exitCode !== null) throw new Error('It has ended');
    return (await fetch(`${this.#url}/-/ready`)).ok;
  }

  async #ask(path: string, query: Record<string, string> = {}): Promise<unknown> {
    const response = await fetch(`${this.#url}/api/v1/${path}?${new URLSearchParams(query)}`);
    const { status, data, error } = (await response.json()) as Record<string, unknown>;
    if (status !== 'success') throw new Error(`Prometheus refuses ${JSON.stringify(query)}: ${error}`);
    return data;
  }

  /** What an expression gives now. Rejects if it does not parse. */
  async query(query: string): Promise<Sample[]> {
    const { result } = (await this.#ask('query', { query })) as {
      result: { metric: Record<string, string>; value: [number, string] }[];
    };
    return result.map(({ metric, value: [, value] }) => ({ metric, value: Number(value) }));
  }

  async alerts(): Promise<Alert[]> {
    return ((await this.#ask('alerts')) as { alerts: Alert[] }).alerts;
  }

  async rules(): Promise<Rule[]> {
    const { groups } = (await this.#ask('rules')) as { groups: { rules: Rule[] }[] };
    return groups.flatMap(({ rules }) => rules);
  }

  async close(): Promise<void> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) {
      const ended = once(this.#process, 'exit');
      this.#process.kill('SIGKILL');
      await ended;
    }
    await rm(this.#folder, { recursive: true, force: true });
  }
}
