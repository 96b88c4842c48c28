/** docs/model.md and the rows of its tables. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export type Row = readonly string[];

export const text = readFileSync(join(import.meta.dirname, '../../../docs/model.md'), 'utf8');

export const ROWS: readonly Row[] = text
  .split('\n')
  .filter((line) => line.startsWith('|'))
  .map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
