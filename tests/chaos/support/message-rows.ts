/** The table of messages in docs/guides/errors.md, which the tests hold true. */
import { readFileSync } from 'node:fs';

export interface MessageRow {
  /** Each is what a message may say. */
  readonly says: readonly RegExp[];
  /** What every message ends with, or goes on with. */
  readonly remedy: string;
}

const TITLE = '| what is wrong | the error says | and what to do |';

function quoted(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text);
}

/** Sentences begin in capitals where they stand alone. */
function pattern(text: string): RegExp {
  const parts = text.split('…').map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  return new RegExp(parts.join('.*'), 'is');
}

export function readMessageRows(): Map<string, MessageRow> {
  const lines = readFileSync(new URL('../../../docs/guides/errors.md', import.meta.url), 'utf8').split('\n');
  const begin = lines.indexOf(TITLE);
  if (begin === -1) throw new Error(`docs/guides/errors.md has no table ${TITLE}`);
  const rows = new Map<string, MessageRow>();
  for (const line of lines.slice(begin + 2)) {
    if (!line.startsWith('|')) break;
    const [, wrong = '', says = '', remedy = ''] = line.split(/ ?\| ?/);
    rows.set(wrong, { says: quoted(says).map(pattern), remedy: quoted(remedy)[0] ?? '' });
  }
  return rows;
}
