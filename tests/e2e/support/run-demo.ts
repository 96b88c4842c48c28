/** Reads the output of the demo. */

/** The table at the end of the demo: `scene / label` → value. */
export function readTable(stdout: string): Map<string, string> {
  const facts = new Map<string, string>();
  const rule = /^ +─+$/m;
  const [, body = ''] = stdout.split(rule);
  let scene = '';
  for (const line of body.split('\n').filter((text) => text.trim() !== '')) {
    const cells = line.trim().split(/ {3,}/);
    if (cells.length === 3) scene = cells.shift()?.replace(/^[✓✗] /, '') ?? '';
    facts.set(`${scene} / ${cells[0]}`, cells[1] ?? '');
  }
  return facts;
}

/** The numbers in a text, in order; `1,234` is one. */
export function numbersIn(text: string | undefined): number[] {
  return [...(text ?? '').matchAll(/\d[\d,]*/g)].map(([digits]) => Number(digits.replaceAll(',', '')));
}
