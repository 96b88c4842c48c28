/**
 * Draws a history as one SVG element. `timeline-layout.ts` computes the positions.
 */
import type { Call, Digest } from './digest.ts';
import { element, escaped } from './svg.ts';
import { overlaps } from './sweeps/exclusion.ts';
import {
  AXIS_TOP,
  type Bar,
  FAULTS_TOP,
  heightOf,
  LABELS_WIDTH,
  type Lane,
  Layout,
  PLOT_WIDTH,
  TRACK_HEIGHT,
} from './timeline-layout.ts';
import { DEFAULT_BOUNDS, type Violation } from './verdict.ts';
import { type Window, Windows } from './windows.ts';

const KEY_COLOURS = ['#4c78a8', '#54a24b', '#b279a2', '#eeca3b', '#72b7b2', '#9d755d', '#f58518', '#8c6bb1'];
function stripes(id: string, colour: string, size: number): string {
  const path = element('path', { d: `M0 ${size} L${size} 0`, stroke: colour, 'stroke-width': 2 });
  return element('pattern', { id, width: size, height: size, patternUnits: 'userSpaceOnUse' }, path);
}

const PATTERNS = element('defs', {}, stripes('both', '#d00', 6) + stripes('still', '#bbb', 9));

export class Drawing {
  readonly #digest: Digest;
  readonly #windows: Windows;
  readonly #layout: Layout;
  readonly #violations: readonly Violation[];
  readonly #colours = new Map<string, string>();

  constructor(digest: Digest, violations: readonly Violation[]) {
    this.#digest = digest;
    this.#windows = new Windows(digest, DEFAULT_BOUNDS.settleMs);
    this.#layout = new Layout(digest, this.#windows, violations);
    this.#violations = violations;
    for (const [place, key] of [...digest.keys.keys()].filter((name) => name !== '').entries()) {
      this.#colours.set(key, KEY_COLOURS[place % KEY_COLOURS.length] as string);
    }
  }

  svg(): string {
    const { heightPx, lanes } = this.#layout;
    const size = { width: LABELS_WIDTH + PLOT_WIDTH + 20, height: heightPx + 24 };
    const parts = [
      PATTERNS,
      ...this.#faults(),
      ...this.#axis(),
      ...lanes.flatMap((lane) => this.#lane(lane)),
      ...this.#incidents(),
      ...this.#overlapped(),
      ...this.#outlines(),
      this.#legend(),
    ];
    const view = `0 0 ${size.width} ${size.height}`;
    return element('svg', { xmlns: 'http://www.w3.org/2000/svg', viewBox: view, ...size }, parts.join('\n'));
  }

  note(): string {
    const { fromNs, toNs, leftOut } = this.#layout;
    const more = leftOut === 0 ? '' : ` There was no room for ${leftOut} more holds or workers.`;
    return (
      `From ${this.#digest.at(fromNs)} to ${this.#digest.at(toNs)}. Bars are holds, thin lines are calls that wait: ` +
      `× refused, ? in doubt, ◆ lost, † died. Striped grey: the process stood still. Point at anything to read more.${more}`
    );
  }

  #axis(): string[] {
    const { heightPx } = this.#layout;
    return this.#layout.ticks(this.#digest.startNs).flatMap((ns) => {
      const x = this.#layout.x(ns);
      return [
        element('line', { x1: x, x2: x, y1: AXIS_TOP, y2: heightPx, stroke: '#ddd' }),
        element('text', { x, y: heightPx + 14, 'text-anchor': 'middle', fill: '#666' }, this.#digest.at(ns)),
      ];
    });
  }

  #faults(): string[] {
    const { fromNs, toNs, heightPx } = this.#layout;
    const shown = this.#digest.faults.filter((fault) => fault.fromNs <= toNs && fault.toNs >= fromNs);
    return shown.map((fault, place) => {
      const [x, end] = [this.#layout.x(fault.fromNs), this.#layout.x(fault.toNs)];
      const y = FAULTS_TOP + 10 + 13 * (place % 3);
      const band = {
        x,
        y: FAULTS_TOP,
        width: Math.max(2, end - x),
        height: heightPx - FAULTS_TOP,
        fill: '#777',
        'fill-opacity': 0.16,
      };
      const name = element('text', { x: x + 3, y, fill: '#444' }, escaped(fault.name));
      const tip = `${fault.name}: ${this.#digest.at(fault.fromNs)} to ${this.#digest.at(fault.toNs)}`;
      return element('g', { class: 'fault' }, element('rect', band) + name, tip);
    });
  }

  #lane(lane: Lane): string[] {
    const { topPx, proc, worker } = lane;
    const heightPx = heightOf(lane);
    const label = escaped(worker === '' ? proc : `${proc} / ${worker}`);
    return [
      element('rect', {
        x: LABELS_WIDTH,
        y: topPx,
        width: PLOT_WIDTH,
        height: heightPx,
        fill: '#000',
        'fill-opacity': 0.03,
      }),
      element('text', { x: LABELS_WIDTH - 8, y: topPx + heightPx / 2 + 4, 'text-anchor': 'end' }, label),
      ...lane.calls.map((call) => this.#call(lane, call)),
      ...lane.bars.map((bar) => this.#bar(lane, bar)),
    ];
  }

  #bar(lane: Lane, { window, track }: Bar): string {
    const { hold, fromNs, toNs } = window;
    const { key, id, kind, token, owner, permits } = hold;
    const rect = {
      ...this.#span(fromNs, toNs),
      y: lane.topPx + 3 + track * TRACK_HEIGHT,
      height: TRACK_HEIGHT - 2,
      rx: 2,
      fill: this.#colours.get(key),
      'fill-opacity': kind === 'read' ? 0.5 : 0.9,
      class: 'hold',
    };
    const tip = [
      `${id} holds "${key}" (${kind}) from ${this.#digest.at(fromNs)} to ${this.#digest.at(toNs)}`,
      token === undefined ? '' : `token ${token}`,
      permits === 1 ? '' : `${permits} permits`,
      owner === undefined ? '' : `owner ${owner}`,
    ].filter((line) => line !== '');
    const isLost = hold.lost !== undefined && hold.lost.atNs <= this.#layout.toNs;
    const lost = isLost
      ? this.#mark('◆', hold.lost?.atNs ?? 0, rect.y + 12, '#b00020', `lost: ${hold.lost?.what}`)
      : '';
    return element('rect', rect, '', tip.join('\n')) + lost;
  }

  /** A waiting call: a thin line, and its outcome unless a bar shows it. */
  #call(lane: Lane, call: Call): string {
    const { invoke, outcome } = call;
    const endNs = Math.min(this.#digest.endOf(call), this.#digest.endNs);
    const y = lane.topPx + heightOf(lane) - 2;
    const { x, width } = this.#span(invoke.atNs, endNs);
    const how =
      outcome === undefined
        ? 'no answer'
        : `${outcome.type}${outcome.what === undefined ? '' : ` ${outcome.what}`}`;
    const tip = `${invoke.op} "${invoke.key}": ${this.#digest.at(invoke.atNs)} to ${this.#digest.at(endNs)}, ${how}`;
    const line = {
      x1: x,
      x2: x + width,
      y1: y,
      y2: y,
      stroke: this.#colours.get(invoke.key),
      'stroke-width': 1.5,
    };
    const mark = { ok: '', fail: '×', info: '?', invoke: '' }[outcome?.type ?? 'invoke'];
    const ends = mark === '' || endNs > this.#layout.toNs ? '' : this.#mark(mark, endNs, y, '#444', tip);
    return element('line', { ...line, class: 'call' }, '', tip) + ends;
  }

  /** Where processes were stalled or died. */
  #incidents(): string[] {
    const { fromNs, toNs, lanes } = this.#layout;
    return [...new Set(lanes.map(({ proc }) => proc))].flatMap((proc) => {
      const extent = this.#layout.extent((lane) => lane.proc === proc);
      if (extent === undefined) return [];
      const { topPx: y, heightPx: height } = extent;
      const stalls = this.#digest.stallsOf(proc).parts(fromNs, toNs);
      const diedNs = this.#digest.diedNs(proc);
      const drawn = stalls.map(([from, to]) => {
        const tip = `${proc} stood still: ${this.#digest.at(from)} to ${this.#digest.at(to)}`;
        return element(
          'rect',
          { ...this.#span(from, to), y, height, fill: 'url(#still)', class: 'stall' },
          '',
          tip,
        );
      });
      if (diedNs < fromNs || diedNs > toNs) return drawn;
      const x = this.#layout.x(diedNs);
      const line = element('line', { x1: x, x2: x, y1: y, y2: y + height, stroke: '#000' });
      return [
        ...drawn,
        line + this.#mark('†', diedNs, y + 10, '#000', `${proc} died at ${this.#digest.at(diedNs)}`),
      ];
    });
  }

  /** The time in which two holders were inside, on the bars of both. */
  #overlapped(): string[] {
    const bars = new Map<Window, { lane: Lane; bar: Bar }>();
    for (const lane of this.#layout.lanes) for (const bar of lane.bars) bars.set(bar.window, { lane, bar });
    const pairs = overlaps({ digest: this.#digest, windows: this.#windows, bounds: DEFAULT_BOUNDS });
    return pairs.flatMap(([first, second]) =>
      [first, second].flatMap((window) => {
        const drawn = bars.get(window);
        if (drawn === undefined) return [];
        const y = drawn.lane.topPx + 3 + drawn.bar.track * TRACK_HEIGHT;
        const span = this.#span(second.fromNs, Math.min(first.toNs, second.toNs));
        return [
          element('rect', { ...span, y, height: TRACK_HEIGHT - 2, fill: 'url(#both)', class: 'overlap' }),
        ];
      }),
    );
  }

  #outlines(): string[] {
    const { fromNs, toNs } = this.#layout;
    return this.#violations
      .filter((violation) => violation.fromNs <= toNs && violation.toNs >= fromNs)
      .flatMap((violation) => {
        const extent = this.#layout.extent(({ proc, bars }) => {
          const isHolder = bars.some(({ window }) => violation.holds.includes(window.hold.id));
          return isHolder || (violation.holds.length === 0 && violation.procs.includes(proc));
        });
        if (extent === undefined) return [];
        const { x, width } = this.#span(violation.fromNs, violation.toNs);
        const y = extent.topPx - 3;
        const rect = {
          x: x - 3,
          y,
          width: width + 6,
          height: extent.heightPx + 6,
          fill: 'none',
          stroke: '#d00',
        };
        const name = element(
          'text',
          { x: x - 3, y: y - 3, fill: '#b00020', 'font-weight': 'bold' },
          violation.kind,
        );
        const outline = element('rect', { ...rect, 'stroke-width': 2, rx: 3 });
        return [element('g', { class: 'violation' }, outline + name, violation.text)];
      });
  }

  #legend(): string {
    const keys = [...this.#colours].slice(0, KEY_COLOURS.length);
    const step = PLOT_WIDTH / KEY_COLOURS.length;
    return keys
      .map(([key, fill], place) => {
        const x = LABELS_WIDTH + place * step;
        const name = key.length > 20 ? `${key.slice(0, 19)}…` : key;
        const box = element('rect', { x, y: 2, width: 10, height: 10, fill });
        return box + element('text', { x: x + 14, y: 11 }, escaped(name));
      })
      .join('');
  }

  #mark(sign: string, atNs: number, y: number, fill: string, tip: string): string {
    const place = { x: this.#layout.x(atNs), y: y + 1, 'text-anchor': 'middle', fill, 'font-size': 13 };
    return element('text', { ...place, class: 'mark' }, sign, tip);
  }

  #span(fromNs: number, toNs: number): { x: number; width: number } {
    const x = this.#layout.x(fromNs);
    return { x, width: Math.max(1, this.#layout.x(toNs) - x) };
  }
}
