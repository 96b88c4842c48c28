/**
 * Colours and numbers for the terminal. Where colours are not wanted the text stays as it is.
 */
import { inspect, stripVTControlCharacters } from 'node:util';

type Colour = 'bold' | 'dim' | 'green' | 'red' | 'yellow' | 'cyan';

/** Puts a colour around a text, or does not. */
export type Paint = (colour: Colour, text: string) => string;

/** `util.styleText` would ask process.stdout whether it may, whatever stream the text is for. */
function coloured(colour: Colour, text: string): string {
  const [open, close] = inspect.colors[colour] ?? [0, 0];
  return `\x1b[${open}m${text}\x1b[${close}m`;
}

/** How to colour what goes to this stream: not at all unless it is a terminal, and never against NO_COLOR. */
export function painter(stream: NodeJS.WriteStream): Paint {
  const { NO_COLOR = '' } = process.env;
  const hasColours = stream.isTTY === true && NO_COLOR === '' && stream.hasColors();
  return hasColours ? coloured : (_colour, text) => text;
}

/** How many columns a text takes. */
export function widthOf(text: string): number {
  return Array.from(stripVTControlCharacters(text)).length;
}

/** Fills up with blanks to a width. */
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
