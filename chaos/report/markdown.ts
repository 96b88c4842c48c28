/** A report as Markdown. */
import type { Report, Table } from './report.ts';

export function toMarkdown({ title, sections }: Report): string {
  const parts = sections.map(({ title: heading, text, table }) =>
    [`## ${heading}`, text, table && markdownTable(table)].filter((part) => part !== undefined).join('\n\n'),
  );
  return `# ${title}\n\n${parts.join('\n\n')}\n`;
}

function markdownTable({ columns, rows }: Table): string {
  const line = (cells: readonly (string | number)[]) =>
    `| ${cells.map((cell) => String(cell).replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`;
  return [line(columns), line(columns.map(() => '---')), ...rows.map(line)].join('\n');
}
