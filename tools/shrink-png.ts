/**
 * Makes a screenshot small: its colours become a palette of 256. A page has few colours, and between them those at the
 * edges of letters, of which the nearest common one does as well.
 */
import { crc32, deflateSync, inflateSync } from 'node:zlib';

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const RGB = 2;
const INDEXED = 3;
const MOST_COLOURS = 256;

interface Picture {
  readonly width: number;
  readonly height: number;
  /** Three bytes for each pixel. */
  readonly pixels: Buffer;
}

/** A PNG with the same picture, and fewer colours. It takes what Chromium makes: eight bits, red, green, blue. */
export function shrinkPng(png: Buffer): Buffer {
  const { width, height, pixels } = decode(png);
  const counts = new Map<number, number>();
  for (let at = 0; at < pixels.length; at += 3) {
    const colour = pixels.readUIntBE(at, 3);
    counts.set(colour, (counts.get(colour) ?? 0) + 1);
  }
  const byCount = [...counts].sort(([, one], [, other]) => other - one).map(([colour]) => colour);
  const palette = byCount.slice(0, MOST_COLOURS);
  const indexes = new Map(byCount.map((colour) => [colour, nearest(palette, colour)]));

  // Each line begins with its filter: none.
  const lines = Buffer.alloc(height * (width + 1));
  for (let at = 0; at < width * height; at += 1) {
    const line = Math.floor(at / width);
    lines[at + line + 1] = indexes.get(pixels.readUIntBE(at * 3, 3)) ?? 0;
  }
  const header = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, INDEXED, 0, 0, 0]);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  const colours = Buffer.alloc(palette.length * 3);
  for (const [index, colour] of palette.entries()) colours.writeUIntBE(colour, index * 3, 3);
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('PLTE', colours),
    chunk('IDAT', deflateSync(lines, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function nearest(palette: readonly number[], colour: number): number {
  const distance = (other: number) =>
    [16, 8, 0].reduce((sum, shift) => sum + (((colour >> shift) & 255) - ((other >> shift) & 255)) ** 2, 0);
  let best = 0;
  for (let index = 1; index < palette.length; index += 1) {
    if (distance(palette[index] ?? 0) < distance(palette[best] ?? 0)) best = index;
  }
  return best;
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const framed = Buffer.alloc(body.length + 8);
  framed.writeUInt32BE(data.length, 0);
  body.copy(framed, 4);
  framed.writeUInt32BE(crc32(body), body.length + 4);
  return framed;
}

function decode(png: Buffer): Picture {
  const parts: Buffer[] = [];
  let header = Buffer.alloc(13);
  for (let at = SIGNATURE.length; at < png.length; ) {
    const length = png.readUInt32BE(at);
    const type = png.toString('latin1', at + 4, at + 8);
    const data = png.subarray(at + 8, at + 8 + length);
    if (type === 'IHDR') header = Buffer.from(data);
    if (type === 'IDAT') parts.push(data);
    at += length + 12;
  }
  if (header[8] !== 8 || header[9] !== RGB || header[12] !== 0)
    throw new Error('Not a PNG as Chromium makes them');
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  return { width, height, pixels: unfilter(inflateSync(Buffer.concat(parts)), width * 3, height) };
}

/** Undoes what PNG does to each line before it is compressed. */
function unfilter(raw: Buffer, stride: number, height: number): Buffer {
  const pixels = Buffer.alloc(stride * height);
  for (let line = 0; line < height; line += 1) {
    const filter = raw[line * (stride + 1)] ?? 0;
    for (let x = 0; x < stride; x += 1) {
      const at = line * stride + x;
      const left = x < 3 ? 0 : (pixels[at - 3] ?? 0);
      const above = line === 0 ? 0 : (pixels[at - stride] ?? 0);
      const corner = x < 3 || line === 0 ? 0 : (pixels[at - stride - 3] ?? 0);
      const guess = [0, left, above, (left + above) >> 1, paeth(left, above, corner)][filter] ?? 0;
      pixels[at] = (raw[line * (stride + 1) + 1 + x] ?? 0) + guess;
    }
  }
  return pixels;
}

function paeth(left: number, above: number, corner: number): number {
  const [toLeft, toAbove] = [Math.abs(above - corner), Math.abs(left - corner)];
  const toCorner = Math.abs(left + above - 2 * corner);
  if (toLeft <= toAbove && toLeft <= toCorner) return left;
  return toAbove <= toCorner ? above : corner;
}
