/** What npm would publish, packed once and installed into copies of the projects beside this folder. */
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, realpath, rename, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { randomName } from '../../harness/names.ts';
import { sharedServer } from '../../harness/servers.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const projects = fileURLToPath(new URL('../projects', import.meta.url));

/** A program that failed may stay alive with what it left open. */
const WITHIN_MS = 480_000;

/** Without what the npm that runs these tests tells its scripts about this project. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const told = /^(npm_(package|lifecycle|command|config_local_prefix)|INIT_CWD$|VITEST|NODE_ENV$|TEST$)/i;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !told.test(name)));
}

/** How a command ended. */
export interface Ended {
  readonly stdout: string;
  readonly stderr: string;
}

async function run(
  cwd: string,
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<Ended> {
  try {
    const options = { cwd, env: { ...cleanEnvironment(), ...env }, timeout: WITHIN_MS };
    return await promisify(execFile)(command, args, options);
  } catch (error) {
    const { stdout = '', stderr = '' } = error as Partial<Ended>;
    throw new Error(`${command} ${args.join(' ')}\n${stdout}\n${stderr}`, { cause: error });
  }
}

/** The file of a program on PATH. */
async function find(program: string): Promise<string> {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  for (const folder of folders) {
    const found = await realpath(join(folder, program)).catch(() => undefined);
    if (found !== undefined) return found;
  }
  throw new Error(`There is no ${program} on PATH`);
}

/** A copy of a project, with the packed package and its other dependencies installed. */
export class InstalledProject {
  /** The name of the lock that its programs take, on the server that all tests share. */
  readonly lockName = randomName();

  constructor(readonly folder: string) {}

  /** Runs a command, found among those that the dependencies install. Rejects, with all output, if it fails. */
  run(command: string, ...args: string[]): Promise<Ended> {
    return this.runIn({}, command, ...args);
  }

  /** Runs a command with additions to its environment. */
  runIn(env: NodeJS.ProcessEnv, command: string, ...args: string[]): Promise<Ended> {
    const program = command === 'node' ? process.execPath : join(this.folder, 'node_modules/.bin', command);
    return run(this.folder, program, args, {
      REDIS_URL: sharedServer().url,
      LOCK_NAME: this.lockName,
      ...env,
    });
  }
}

/** The packed package, in a folder that `close` removes. */
export class PackedPackage {
  private constructor(
    readonly folder: string,
    readonly version: string,
  ) {}

  static async pack(): Promise<PackedPackage> {
    const folder = await mkdtemp(join(tmpdir(), 'holdfast-packed-'));
    await run(root, 'npm', ['pack', '--pack-destination', folder, '--loglevel', 'error']);
    const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
    const packed = new PackedPackage(folder, version);
    await rename(join(folder, `holdfast-${version}.tgz`), packed.tarball);
    return packed;
  }

  get tarball(): string {
    return join(this.folder, 'holdfast.tgz');
  }

  /** Copies a project of `tests/e2e/projects` and installs its dependencies. */
  async install(project: string): Promise<InstalledProject> {
    const folder = join(this.folder, project);
    await cp(join(projects, project), folder, { recursive: true });
    await run(folder, 'npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', '--no-package-lock']);
    return new InstalledProject(folder);
  }

  /** Runs a command where there is Node.js and npm, and nothing else: no server on PATH, and none named. */
  async runWithoutServers(command: string, ...args: string[]): Promise<Ended> {
    const programs = join(this.folder, 'programs');
    await mkdir(programs);
    for (const name of ['node', 'npm', 'npx', 'sh']) await symlink(await find(name), join(programs, name));
    return run(programs, command, args, { PATH: programs, REDIS_URL: '' });
  }

  async close(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}
