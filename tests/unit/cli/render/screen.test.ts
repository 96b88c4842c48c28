/** What reaches the terminal: live lines that can be taken back, colours only where they are wanted. */
import { Writable } from 'node:stream';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { curve } from '../../../../src/cli/render/meters.ts';
import { Screen } from '../../../../src/cli/render/screen.ts';
import { table } from '../../../../src/cli/render/table.ts';

/** A terminal of that many columns, or with none a pipe. */
function fakeOutput(columns?: number): { stream: NodeJS.WriteStream; written: () => string } {
  const chunks: string[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk.toString());
      done();
    },
  });
  const terminal = columns === undefined ? {} : { isTTY: true, columns, hasColors: () => true };
  return { stream: Object.assign(stream, terminal) as NodeJS.WriteStream, written: () => chunks.join('') };
}

const ERASE = '\r\x1b[2K';

afterEach(() => vi.unstubAllEnvs());

describe('a screen', () => {
  it('rewrites its live line on a terminal, and keeps the others', () => {
    vi.stubEnv('TERM', 'xterm');
    const { stream, written } = fakeOutput(40);
    const screen = new Screen(stream);
    screen.live('one');
    screen.live('two');
    screen.line('stays');
    screen.line('stays too');
    expect(written()).toBe(`one${ERASE}two${ERASE}stays\nstays too\n`);
  });

  it('cuts a live line that would wrap and could not be erased', () => {
    vi.stubEnv('TERM', 'xterm');
    const { stream, written } = fakeOutput(10);
    new Screen(stream).live('\x1b[36m0123456789\x1b[39m');
    expect(written()).toBe('012345678');
  });

  it('prints only the lines that stay where there is no terminal', () => {
    const { stream, written } = fakeOutput();
    const screen = new Screen(stream);
    screen.live('one');
    screen.line(screen.paint('red', 'stays'));
    expect(written()).toBe('stays\n');
  });

  it('colours a terminal unless NO_COLOR says no', () => {
    vi.stubEnv('NO_COLOR', '');
    expect(new Screen(fakeOutput(80).stream).paint('green', 'yes')).toBe('\x1b[32myes\x1b[39m');
    vi.stubEnv('NO_COLOR', '1');
    expect(new Screen(fakeOutput(80).stream).paint('green', 'yes')).toBe('yes');
  });
});

describe('the table', () => {
  it('aligns its columns and marks each scene as held or failed', () => {
    const lines = table(
      [
        {
          title: 'One',
          held: true,
          facts: [
            { label: 'a', value: '1' },
            { label: 'bcd', value: '2' },
          ],
        },
        { title: 'Three', held: false, facts: [{ label: 'failed', value: 'why' }] },
      ],
      (_colour, text) => text,
    );
    expect(lines).toEqual([
      '  ──────────────────────',
      '  ✓ One     a        1',
      '            bcd      2',
      '  ✗ Three   failed   why',
      '  ──────────────────────',
    ]);
  });
});

describe('a curve', () => {
  it('goes from the lowest to the highest sign, and no further', () => {
    expect(curve([-2, 0, 400, 800, 900], 800)).toBe('▁▁▅██');
  });
});
