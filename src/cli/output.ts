/**
 * Results on stdout: lines for people, or JSON for programs.
 */

export function printLines(lines: readonly string[]): void {
  process.stdout.write(lines.map((line) => `${line}\n`).join(''));
}

/** Indented, since people read it too; `jq` does not mind. */
export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}
