/**
 * The table at the end: the result of each scene.
 */
import { type Paint, padded, widthOf } from './style.ts';

/** One observation. */
export interface Fact {
  readonly label: string;
  readonly value: string;
}

/** A scene's part of the table. */
export interface Verdict {
  readonly title: string;
  readonly held: boolean;
  readonly facts: readonly Fact[];
}

const INDENT = '  ';
const GAP = '   ';
/** A long failure reason may exceed the width; the rules do not. */
const LONGEST_RULE = 76;

/** The lines of a table with the columns verdict and scene, label, value. */
export function table(verdicts: readonly Verdict[], paint: Paint): string[] {
  const titleWidth = Math.max(...verdicts.map(({ title }) => widthOf(title)));
  const labels = verdicts.flatMap(({ facts }) => facts.map(({ label }) => widthOf(label)));
  const labelWidth = Math.max(0, ...labels);
  const valueWidth = Math.max(
    0,
    ...verdicts.flatMap(({ facts }) => facts.map(({ value }) => widthOf(value))),
  );
  const ruleWidth = 2 + titleWidth + GAP.length + labelWidth + GAP.length + valueWidth;
  const rule = INDENT + paint('dim', '─'.repeat(Math.min(ruleWidth, LONGEST_RULE)));
  const rows = verdicts.flatMap(({ title, held, facts }) =>
    facts.map(({ label, value }, index) => {
      const mark = held ? paint('green', '✓') : paint('red', '✗');
      const head =
        index === 0 ? `${mark} ${paint('bold', padded(title, titleWidth))}` : padded('', titleWidth + 2);
      return `${INDENT}${head}${GAP}${paint('dim', padded(label, labelWidth))}${GAP}${value}`;
    }),
  );
  return [rule, ...rows, rule];
}
