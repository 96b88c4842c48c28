/** Reads docs/proofs.md, which names the tests behind the verdicts of other pages. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './doc-blocks.ts';

export interface Proof {
  readonly number: string;
  /** The verdict that the tests show. */
  readonly statement: string;
  /** The list below it. */
  readonly list: string;
}

/** The two series of proofs, by the first word of their headings. */
export type Series = 'Proof' | 'Redisson';

/** All proofs of a series, in the order of the page. */
export function readProofs(series: Series): Proof[] {
  const page = readFileSync(join(ROOT, 'docs/proofs.md'), 'utf8');
  return page
    .split(/^(?=##)/m)
    .filter((section) => section.startsWith(`### ${series} `))
    .map((section) => {
      const [heading = '', statement = '', ...list] = section.trim().split('\n\n');
      return {
        number: heading.slice(`### ${series} `.length),
        statement: statement.replaceAll('\n', ' '),
        list: list.join('\n\n'),
      };
    });
}

/** The numbers of the proofs of a series that a text links to. */
export function linkedProofs(text: string, series: Series): string[] {
  const links = text.matchAll(/\[([^\]]+)\]\(proofs\.md#(\w+)-(\d+)\)/g);
  return [...links].flatMap(([, label = '', anchor, number = '']) => {
    if (anchor !== series.toLowerCase()) return [];
    // A number in brackets is where the link leads.
    if (/^\d+$/.test(label) && label !== number) throw new Error(`The link [${label}] leads to ${number}`);
    return [number];
  });
}
