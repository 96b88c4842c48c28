/** Names that both languages must turn into the same keys. */
import { randomName } from '../../harness/names.ts';

export const PLAIN_AND_BRACED: [title: string, make: () => string][] = [
  ['a plain name', () => randomName('interop')],
  ['a name with braces', () => `{${randomName('tag')}}:interop`],
];

/** Also what is special somewhere: to a shell, to JSON, to Redis' patterns, in UTF-8. */
export const ALL_NAMES: [title: string, make: () => string][] = [
  ...PLAIN_AND_BRACED,
  ['an odd name', () => `${randomName('interop')} é 日本 "/\\*?`],
];
