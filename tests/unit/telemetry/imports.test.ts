/**
 * What an import loads: `holdfast` loads no subscriber, no command line and no dashboard, and a subscriber loads nothing
 * but what it needs.
 */
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../../..');

interface Loaded {
  /** The sources of this package, below `src/`. */
  readonly own: string[];
  /** Packages that are not part of Node.js. */
  readonly packages: string[];
}

/** Everything that is loaded with a file, also later, by a dynamic import. */
function loadedWith(entry: string): Loaded {
  const { metafile } = buildSync({
    entryPoints: [join(ROOT, 'src', entry)],
    absWorkingDir: ROOT,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    metafile: true,
    write: false,
  });
  const imported = Object.values(metafile.inputs).flatMap(({ imports }) => imports);
  const packages = imported.filter(({ path, external }) => external && !path.startsWith('node:'));
  return {
    own: Object.keys(metafile.inputs).map((file) => file.replace(/^src\//, '')),
    packages: [...new Set(packages.map(({ path }) => path))].sort(),
  };
}

const isSubscriber = (file: string) => /^telemetry\/(otel|prometheus|metrics)\//.test(file);
const isProgram = (file: string) => /^(cli|dashboard|dashboard-ui)\//.test(file);

describe('importing', () => {
  it.each(['index.ts', 'testing/index.ts'])('%s loads no subscriber', (entry) => {
    const { own, packages } = loadedWith(entry);
    expect(own.filter(isSubscriber)).toEqual([]);
    expect(packages.filter((name) => name.startsWith('@opentelemetry') || name === 'prom-client')).toEqual(
      [],
    );
  });

  it.each(['index.ts', 'testing/index.ts', 'telemetry/otel/index.ts', 'telemetry/prometheus/index.ts'])(
    '%s loads neither the command line nor the dashboard',
    (entry) => {
      const { own, packages } = loadedWith(entry);
      expect(own.filter(isProgram)).toEqual([]);
      expect(packages).not.toContain('commander');
    },
  );

  it('the command line loads all of these', () => {
    const { own, packages } = loadedWith('cli/bin.ts');
    const folders = new Set(own.filter(isProgram).map((file) => file.split('/')[0]));
    expect([...folders].sort()).toEqual(['cli', 'dashboard']);
    expect(packages).toContain('commander');
  });

  it.each([
    ['otel', '@opentelemetry/api'],
    ['prometheus', 'prom-client'],
  ])('holdfast/%s loads %s, and neither a client nor a lock', (name, needed) => {
    const { own, packages } = loadedWith(`telemetry/${name}/index.ts`);
    expect(packages).toEqual([needed]);
    expect(own.filter(isSubscriber).length).toBeGreaterThan(3);
    expect(own.filter((file) => /^(client|wiring|locks|counters|runtime|drivers)\b/.test(file))).toEqual([]);
  });
});
