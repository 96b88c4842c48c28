/**
 * What of the locks a dashboard may show: those whose keys match its pattern, whether looks at the server find them or
 * clients of the process tell of them.
 */

/** Redis matches byte by byte: here each character is one. */
function bytesOf(text: string): string {
  return Buffer.from(text).toString('latin1');
}

function escaped(character: string): string {
  return `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
}

/** The set of characters after an opening bracket, and where the pattern goes on; it may end without a bracket. */
function setAt(text: string, start: number): { set: string; end: number } {
  const isExcluding = text[start] === '^';
  let set = '';
  let at = isExcluding ? start + 1 : start;
  while (at < text.length && text[at] !== ']') {
    const character = text[at] as string;
    const isRange = text[at + 1] === '-' && at + 2 < text.length;
    if (character === '\\' && at + 1 < text.length) {
      set += escaped(text[at + 1] as string);
      at += 2;
    } else if (isRange) {
      // The server takes the bounds in either order.
      const bounds = [character, text[at + 2] as string].sort();
      set += bounds.map(escaped).join('-');
      at += 3;
    } else {
      set += escaped(character);
      at += 1;
    }
  }
  return { set: `[${isExcluding ? '^' : ''}${set}]`, end: at };
}

/** A glob pattern as the server understands it. */
function matcherOf(pattern: string): RegExp {
  const text = bytesOf(pattern).replace(/(?<!\\)\*+/g, '*');
  let source = '';
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] as string;
    if (character === '*') source += '.*';
    else if (character === '?') source += '.';
    else if (character === '[') {
      const { set, end } = setAt(text, at + 1);
      source += set;
      at = end;
    } else {
      if (character === '\\' && at + 1 < text.length) at += 1;
      source += escaped(text[at] as string);
    }
  }
  return new RegExp(`^${source}$`, 's');
}

export class Scope {
  /** Whether everything may be shown. */
  readonly isWhole: boolean;
  readonly #matcher: RegExp;

  /** @param prefix what the user's client puts before the names of keys */
  constructor(pattern: string, prefix: string) {
    this.isWhole = pattern === '*';
    this.#matcher = matcherOf(prefix + pattern);
  }

  has(key: string): boolean {
    return this.isWhole || this.#matcher.test(bytesOf(key));
  }
}
