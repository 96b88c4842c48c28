/**
 * The verdicts of docs/guarantees.md are tested: docs/proofs.md names a test for each, which exists and runs in the mode
 * of that column, or in another mode where the page says so.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from './support/doc-blocks.ts';
import { linkedProofs, readProofs } from './support/proofs.ts';

const text = readFileSync(join(ROOT, 'docs/guarantees.md'), 'utf8');

/** The headings of the columns, and the names of their modes on docs/proofs.md. */
const COLUMNS = {
  "`'auto'`, the default": "`'auto'`",
  '`replicas: 0`': '`replicas: 0`',
  '`replicas: n`': '`replicas: n`',
  '`guard`': '`guard`',
};
const MODES: readonly string[] = Object.values(COLUMNS);
const [AUTO = '', NONE = '', NUMBER = '', GUARD = ''] = MODES;

interface Named {
  readonly modes: readonly string[];
  readonly file: string;
  readonly title: string;
}

const NAMED = /^(.+?): `(tests\/[^`]+)`: "(.+)"$/;
const SAME = /^(.+): \[the same\]\(guarantees\.md#the-same\)$/;

const proofs = readProofs('Proof').map(({ number, statement, list }) => {
  const lines = list.split('\n').map((line) => line.replace(/^- /, ''));
  const named: Named[] = [];
  const same: string[] = [];
  for (const line of lines) {
    const [, modes, file = '', title = ''] = NAMED.exec(line) ?? [];
    const [, others] = SAME.exec(line) ?? [];
    if (modes !== undefined) named.push({ modes: modes.split(', '), file, title });
    else if (others !== undefined) same.push(...others.split(', '));
    else throw new Error(`Proof ${number} has the line ${line}`);
  }
  return { number, statement, named, same };
});
const byNumber = new Map(proofs.map((proof) => [proof.number, proof]));

/** Every named test once, with all modes that it is named for. */
const tests = [
  ...new Set(proofs.flatMap(({ named }) => named.map(({ file, title }) => `${file}\n${title}`))),
].map((key) => {
  const [file = '', title = ''] = key.split('\n');
  const all = proofs.flatMap(({ named }) =>
    named.filter((one) => one.file === file && one.title === title).flatMap(({ modes }) => modes),
  );
  return { file, title, modes: [...new Set(all)] };
});

const [header = [], , ...rows] = (/^\| failure [\s\S]*?\n\n/m.exec(text)?.[0] ?? '')
  .trim()
  .split('\n')
  .map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );

const cells = rows.flatMap(([failure = '', ...rest]) =>
  MODES.map((mode, index) => ({ failure, mode, says: rest[index] ?? '', link: rest.at(-1) ?? '' })),
);

function proofOf(link: string) {
  return byNumber.get(linkedProofs(link, 'Proof')[0] ?? '');
}

/** The modes that a title names, by the first pattern that fits. */
const TOLD: readonly (readonly [title: RegExp, modes: readonly string[]])[] = [
  [/^auto\b|^by default\b/, [AUTO]],
  [/^a number\b/, [NUMBER]],
  [/in every mode, with the guard and without/, MODES],
  [/without the guard.*\bwith it\b/, [AUTO, NONE, GUARD]],
  [/(?:\$mode|in every mode).*without|without.*in every mode/, [AUTO, NONE, NUMBER]],
  [/^without the guard/, [NONE]],
  [/with the guard/, [GUARD]],
  [/replicas: %s/, [AUTO, NUMBER]],
];

describe('docs/guarantees.md', () => {
  it.each(tests)('names an existing test: $title', ({ file, title }) => {
    // A title may be put together from a table; the file contains the quoted text unchanged.
    const source = readFileSync(join(ROOT, file), 'utf8');
    expect(source).toContain(title.includes("'") ? `"${title}"` : `'${title}'`);
  });

  it.each(tests)('names a test for the modes of its title: $title', ({ title, modes }) => {
    const told = TOLD.find(([pattern]) => pattern.test(title))?.[1];
    expect(MODES).toEqual(expect.arrayContaining(modes));
    if (told !== undefined) expect([...modes].sort()).toEqual([...told].sort());
  });

  it('has a column for every mode, and a row for every failure', () => {
    expect(header.slice(1)).toEqual([...Object.keys(COLUMNS), 'proof']);
    expect(rows.length).toBeGreaterThan(20);
    for (const row of rows) expect(row, row[0]).toHaveLength(header.length);
  });

  it.each(rows.map((row) => ({ failure: row[0] ?? '', link: row.at(-1) ?? '' })))(
    'links to a proof of the same failure: $failure',
    ({ failure, link }) => {
      expect(proofOf(link)?.statement).toBe(`${failure.charAt(0).toUpperCase()}${failure.slice(1)}.`);
    },
  );

  it.each(cells)('has a test of that mode: $failure, $mode', ({ mode, says, link }) => {
    const { named = [], same = [] } = proofOf(link) ?? {};
    expect(says).not.toBe('');
    expect(named).not.toEqual([]);
    const isElsewhere = says === 'the same';
    expect(named.some(({ modes }) => modes.includes(mode))).toBe(!isElsewhere);
    expect(same.includes(mode)).toBe(isElsewhere);
  });

  it('uses every proof, and each has a test', () => {
    const used = [...new Set(linkedProofs(text, 'Proof'))].sort((one, other) => Number(one) - Number(other));
    expect(used).toEqual(proofs.map(({ number }) => number));
    expect(used).toEqual(used.map((_, index) => String(index + 1)));
    for (const { number, named } of proofs) expect(named, number).not.toEqual([]);
  });
});
