/**
 * Installs Debian packages where that needs no questions: on CI, with apt-get, as root. Leaves no service running.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';

const WITHIN_MS = 180_000;
/** Debian asks this program before it starts a service; 101 means no. */
const POLICY_FILE = '/usr/sbin/policy-rc.d';
const FORBID_SERVICES = '#!/bin/sh\nexit 101\n';

function aptGet(...args: string[]): boolean {
  const options = ['-qq', '-o', 'Acquire::Retries=1', '-o', 'Acquire::http::Timeout=15'];
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const { status } = spawnSync('apt-get', [...options, ...args], {
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
    timeout: WITHIN_MS,
  });
  return status === 0;
}

async function withoutServices<Result>(act: () => Result): Promise<Result> {
  // An existing policy is the machine's own, and usually says the same.
  if (existsSync(POLICY_FILE)) return act();
  await writeFile(POLICY_FILE, FORBID_SERVICES, { mode: 0o755 });
  try {
    return act();
  } finally {
    await rm(POLICY_FILE, { force: true });
  }
}

/** Whether the packages were installed; false where apt-get is missing or may not be used. */
export async function installPackages(
  packages: readonly string[],
  say: (text: string) => void,
): Promise<boolean> {
  const { CI = '' } = process.env;
  const mayInstall = CI !== '' && process.getuid?.() === 0;
  if (!mayInstall || spawnSync('apt-get', ['--version']).status !== 0) return false;
  const names = packages.join(' ');
  say(`Installing ${names} with apt-get …`);
  if (!aptGet('update')) say('apt-get update failed; going on with the package lists there are');
  const isInstalled = await withoutServices(() =>
    aptGet('install', '-y', '--no-install-recommends', ...packages),
  );
  say(isInstalled ? `Installed ${names}` : `apt-get could not install ${names}`);
  return isInstalled;
}
