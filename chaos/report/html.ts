/** A report as one HTML file without anything to load. */
import type { Report, Table } from './report.ts';

const STYLE = `
  body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; color: #1c2430 }
  table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: 0.5rem 0 2rem }
  th, td { border-bottom: 1px solid #d8dee6; padding: 0.25rem 0.75rem; text-align: left; vertical-align: top }
  th { color: #5a6676; font-weight: 600 }
  h1, h2 { line-height: 1.2 }
`;

export function toHtml({ title, sections }: Report): string {
  const parts = sections.map(
    ({ title: heading, text, table }) =>
      `<h2>${escaped(heading)}</h2>${text === undefined ? '' : `<p>${escaped(text)}</p>`}${
        table === undefined ? '' : htmlTable(table)
      }`,
  );
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>${escaped(title)}</title><style>${STYLE}</style>
<h1>${escaped(title)}</h1>
${parts.join('\n')}
</html>
`;
}

function htmlTable({ columns, rows }: Table): string {
  const head = columns.map((column) => `<th>${escaped(column)}</th>`).join('');
  const body = rows.map((row) => `<tr>${row.map((cell) => `<td>${content(cell)}</td>`).join('')}</tr>`);
  return `<table><tr>${head}</tr>\n${body.join('\n')}</table>`;
}

/** A file beside the report becomes a link. */
function content(cell: string | number): string {
  const text = String(cell);
  return /^[\w.-]+\.html$/.test(text) ? `<a href="${text}">${text}</a>` : escaped(text);
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
