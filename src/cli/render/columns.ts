/**
 * Rows in aligned columns.
 */
import { padded, widthOf } from './style.ts';

const GAP = '  ';

/** Cuts a text to a width, with a mark where something is missing. */
export function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  return width < 1
    ? ''
    : `${Array.from(text)
        .slice(0, width - 1)
        .join('')}…`;
}

/** The lines of a table, the header first. Without rows there is only the header. */
export function columns(header: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const all = [header, ...rows];
  const widths = header.map((_, index) => Math.max(...all.map((row) => widthOf(row[index] ?? ''))));
  return all.map((row) =>
    row
      .map((cell, index) => padded(cell, widths[index] ?? 0))
      .join(GAP)
      .trimEnd(),
  );
}
