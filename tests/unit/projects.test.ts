/** The list of projects: no test file is left out, and no tier leaves out what no other has. */
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { PROJECTS, projectsOf } from '../projects.ts';

const FOLDER = fileURLToPath(new URL('..', import.meta.url));
const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter((file) =>
  /\.(test|suite)\.ts$/.test(file),
);

/** Whether the file is one that the pattern stands for. */
function isOf(pattern: string, file: string): boolean {
  const texts = pattern.split('**/').map((part) =>
    part
      .split('*')
      .map((text) => text.replaceAll('.', '\\.'))
      .join('[^/]*'),
  );
  return new RegExp(`^${texts.join('(.+/)?')}$`).test(file);
}

describe('the list of projects', () => {
  it('has every test file in a project', () => {
    const left = files.filter(
      (file) =>
        !PROJECTS.some(
          ({ files: some, except = [] }) =>
            some.some((pattern) => isOf(pattern, file)) && !except.some((pattern) => isOf(pattern, file)),
        ),
    );
    expect(left).toEqual([]);
  });

  it('names only existing files', () => {
    const patterns = PROJECTS.flatMap(({ files: some, except = [] }) => [...some, ...except]);
    expect(patterns.filter((pattern) => !files.some((file) => isOf(pattern, file)))).toEqual([]);
  });

  it('runs everything in the default tier and the rest', () => {
    const names = [...projectsOf('default'), ...projectsOf('rest')].map(({ name }) => name);
    expect(names.sort()).toEqual(PROJECTS.map(({ name }) => name).sort());
    expect(new Set(names).size).toBe(names.length);
  });
});
