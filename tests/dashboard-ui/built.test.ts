/** The built page, as a file: small, and without anything that its content security policy forbids. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, inject, it } from 'vitest';

const MOST_BYTES = 150 * 1_024;

const folder = inject('dashboardPage');
const files = readdirSync(folder, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map(({ parentPath, name }) => join(parentPath, name));
const textOf = (ending: string) =>
  files
    .filter((file) => file.endsWith(ending))
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n');

describe('the built page', () => {
  it('has less than 150 KB, compressed', () => {
    const bytes = files.reduce((sum, file) => sum + gzipSync(readFileSync(file)).length, 0);
    expect(bytes).toBeGreaterThan(10_000);
    expect(bytes).toBeLessThan(MOST_BYTES);
  });

  it('has no script or style in the page, and refers to its files relatively', () => {
    const html = textOf('.html');
    expect(html).not.toMatch(/<style|style=|\son\w+=|javascript:/i);
    expect(html.match(/<script[^>]*>[^<]*/g)).toEqual([
      expect.stringMatching(/ src="\.\/assets\/[^"]+\.js">$/),
    ]);
    const targets = [...html.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, target]) => target);
    expect(targets.length).toBeGreaterThan(2);
    for (const target of targets) expect(target).toMatch(/^\.\/assets\/.+-[\w-]{8}\.(?:js|css|svg)$/);
  });

  it('loads nothing from elsewhere, and evaluates no text', () => {
    expect(textOf('.css')).not.toMatch(/url\(|@import/);
    expect(textOf('.js')).not.toMatch(/\beval\(|new Function\(/);
    // The namespaces of SVG and MathML are no addresses that anything is loaded from.
    const addresses = textOf('.js').match(/https?:\/\/[^"'`\s]+/g) ?? [];
    expect(addresses.filter((address) => !address.startsWith('http://www.w3.org/'))).toEqual([]);
  });

  it('brings the licences of what is in it', () => {
    for (const name of ['preact', '@preact/signals', '@preact/signals-core', 'uplot'])
      expect(textOf('licences.txt')).toMatch(new RegExp(`^${name} \\d`, 'm'));
  });
});
