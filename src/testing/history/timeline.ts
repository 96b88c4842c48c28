/**
 * Draws a history as one self-contained page: processes down, time across, holds as bars, waits as lines, faults as
 * bands, violations in red.
 */
import type { HistoryEvent } from './event.ts';
import { digestOf } from './reading.ts';
import { escaped } from './svg.ts';
import { Drawing } from './timeline-drawing.ts';
import type { Violation } from './verdict.ts';

/** Drawing options. */
export interface TimelineOptions {
  readonly title?: string;
  /** Outlined and described; the page shows the time around the first one. Without any, it shows the whole history. */
  readonly violations?: readonly Violation[];
}

/** The most texts of violations printed. */
const MOST_TEXTS = 20;

const STYLE = `
body { font: 14px/1.5 system-ui, sans-serif; margin: 24px; color: #222; background: #fff; }
h1 { font-size: 18px; margin: 0 0 8px; }
ul { margin: 0 0 12px; padding-left: 20px; }
li { color: #b00020; }
svg { font: 11px system-ui, sans-serif; display: block; max-width: none; }
main { overflow-x: auto; }
.note { color: #666; }
`;

/**
 * A page with the drawing.
 *
 * @example
 * ```ts
 * import type { HistoryEvent } from 'holdfast/testing';
 *
 * const at = { worker: 'a', key: 'invoice:42', kind: 'lock', op: 'acquire', call: 1 } as const;
 * const events: HistoryEvent[] = [
 *   { ...at, proc: 'worker-1', type: 'invoke', atNs: 1e6 },
 *   { ...at, proc: 'worker-1', type: 'ok', atNs: 2e6, hold: 'worker-1/1' },
 * ];
 * const { violations } = checkHistory(events);
 * const page = drawTimeline(events, { title: 'A hold that leaks', violations });
 * console.log(page.slice(0, 15)); // <!doctype html>
 * ```
 */
export function drawTimeline(events: readonly HistoryEvent[], options: TimelineOptions = {}): string {
  const { title = 'A history', violations = [] } = options;
  const drawing = new Drawing(digestOf(events), violations);
  const texts = violations
    .slice(0, MOST_TEXTS)
    .map(({ kind, text }) => `<li><b>${kind}</b>: ${escaped(text)}</li>`);
  if (violations.length > MOST_TEXTS) texts.push(`<li>and ${violations.length - MOST_TEXTS} more</li>`);
  return [
    '<!doctype html>',
    '<html lang="en"><head><meta charset="utf-8">',
    `<title>${escaped(title)}</title><style>${STYLE}</style></head><body>`,
    `<h1>${escaped(title)}</h1>`,
    texts.length === 0 ? '' : `<ul>${texts.join('')}</ul>`,
    `<main>${drawing.svg()}</main>`,
    `<p class="note">${escaped(drawing.note())}</p>`,
    '</body></html>',
  ].join('\n');
}
