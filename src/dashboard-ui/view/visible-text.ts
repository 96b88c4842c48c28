/**
 * Names that would mislead the reader or break a line. A name may have any characters: those that are invisible, or that
 * change the direction of what follows, are shown by their code.
 */

/** A stretch of a name; `isCode`: it stands for a character that cannot be shown as it is. */
export interface TextPart {
  readonly text: string;
  readonly isCode: boolean;
}

/**
 * Control characters, unpaired surrogates, format characters (among them those that change the direction), separators
 * of lines, and every space but the plain one.
 */
const UNSHOWN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]|(?! )\p{Zs}/u;
const EACH_UNSHOWN = new RegExp(`(${UNSHOWN.source})`, 'u');

export function visibleParts(name: string): TextPart[] {
  if (name === '') return [{ text: 'empty name', isCode: true }];
  return name
    .split(EACH_UNSHOWN)
    .filter((text) => text !== '')
    .map((text) => (UNSHOWN.test(text) ? { text: codeOf(text), isCode: true } : { text, isCode: false }));
}

/** The same as plain text, for titles and labels. */
export function visibleText(name: string): string {
  return visibleParts(name)
    .map(({ text, isCode }) => (isCode ? `‹${text}›` : text))
    .join('');
}

function codeOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
}
