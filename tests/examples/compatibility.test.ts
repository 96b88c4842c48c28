/** The page of compatibility calls exactly those servers tested that the projects of the tests run on. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PROJECTS } from '../projects.ts';
import { ROOT } from './support/doc-blocks.ts';

const page = readFileSync(join(ROOT, 'docs/compatibility.md'), 'utf8');

/** The servers of the table with that mark, such as `redis-8.0`. */
function serversMarked(mark: string): string[] {
  const rows = page.matchAll(/^\| (Redis|Valkey) (\d+\.\d+)[^|]*\|([^|]*)\|([^|]*)\|/gm);
  return [...rows]
    .filter(([, , , , tests = '']) => tests.includes(mark))
    .map(([, kind = '', version]) => `${kind.toLowerCase()}-${version}`);
}

/** The one that the machines of CI have, which every other project runs on. */
const ON_PATH = 'redis-7.0';

describe('docs/compatibility.md', () => {
  it('calls exactly those servers tested that the projects name', () => {
    const others = PROJECTS.flatMap(({ provide }) => provide?.otherServer ?? []);
    expect(serversMarked('**Tested**').sort()).toEqual([...new Set([ON_PATH, ...others])].sort());
  });

  it('says of the others that they were not tried', () => {
    expect(serversMarked('*not tried by us*').length).toBeGreaterThan(0);
  });

  it('says what runs on each: every script on all, and every primitive where a project has the behaviour', () => {
    const withBehaviour = PROJECTS.filter(({ name }) => name.startsWith('behaviour:'))
      .flatMap(({ provide }) => provide?.otherServer ?? [])
      .sort();
    expect(withBehaviour).toEqual(['redis-8.0', 'valkey-8.1']);
    expect(serversMarked('every primitive through ioredis 6')).toEqual(['redis-8.0']);
    expect(serversMarked('as Redis 8.0')).toEqual(['valkey-8.1']);
  });
});
