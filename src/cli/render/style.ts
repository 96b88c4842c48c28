/**
 * Colours and number formats for the terminal. Without colours the text stays plain.
 */
import { inspect, stripVTControlCharacters } from 'node:util';

type Colour = 'bold' | 'dim' | 'green' | 'red' | 'yellow' | 'cyan';

/** Colours a text, if colours are on. */
export type Paint = (colour: Colour, text: string) => string;

/** Not `util.styleText`: it checks process.stdout, whatever stream the text is for. */
function coloured(colour: Colour, text: string): string {
  const [open, close] = inspect.colors[colour] ?? [0, 0];
  return `\x1b[${open}m${text}\x1b[${close}m`;
}

/** Chooses whether to colour output to this stream: only on a terminal, and never with NO_COLOR. */
export function painter(stream: NodeJS.WriteStream): Paint {
  const { NO_COLOR = '' } = process.env;
  const hasColours = stream.isTTY === true && NO_COLOR === '' && stream.hasColors();
  return hasColours ? coloured : (_colour, text) => text;
}

/** The number of columns that a text takes. */
export function widthOf(text: string): number {
  return Array.from(stripVTControlCharacters(text)).length;
}

/** Pads with blanks to a width. */
export function padded(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)));
}

/** `1,000` */
export function grouped(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

/** `1,234 ms` */
export function milliseconds(value: number): string {
  return `${grouped(value)} ms`;
}

/** `3.4 s` */
export function seconds(valueMs: number): string {
  return `${(valueMs / 1_000).toFixed(1)} s`;
}
