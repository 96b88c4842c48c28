/** What the build reads from a Markdown page, and how it changes the page's links. Knows nothing of files. */

/** Code, in which brackets are no links; the target of a link or picture; the target of a link's definition. */
const LINKS = /^(`{3,})[\s\S]*?^\1|`[^`\n]+`|(?<=\]\()([^()\s]+)(?=\))|(?<=^\[[^\]\n]+\]: )(\S+)/gm;

/** Replaces the target of every link and picture. */
export function mapLinks(markdown: string, map: (target: string) => string): string {
  return markdown.replace(LINKS, (text, _fence, inline?: string, defined?: string) => {
    const target = inline ?? defined;
    return target === undefined ? text : map(target);
  });
}

const HEADING = /^# (.+)$/m;

function headingOf(markdown: string): RegExpExecArray {
  const heading = HEADING.exec(markdown);
  if (heading === null) throw new Error(`A page without a heading: ${markdown.slice(0, 80)}`);
  return heading;
}

export function titleOf(markdown: string): string {
  return headingOf(markdown)[1] ?? '';
}

/** What follows the heading, paragraph by paragraph. */
export function paragraphsOf(markdown: string): string[] {
  const { index, 0: heading } = headingOf(markdown);
  return markdown
    .slice(index + heading.length)
    .trim()
    .split(/\n{2,}/);
}

/** A paragraph, and not a heading, a table or code. */
const PROSE = /^(?![#|]|```)/;

/** The first sentence of the page, as plain text. */
export function summaryOf(markdown: string): string {
  const opening = paragraphsOf(markdown).find((text) => PROSE.test(text)) ?? '';
  const plain = opening.replace(/\s*\n/g, ' ').replace(/\[([^\]]*)\](\([^)]*\)|\[[^\]]*\])/g, '$1');
  return /^.*?[.:](?=\s|$)/.exec(plain)?.[0].replace(/:$/, '.') ?? plain;
}

/** The anchor of a heading, as GitHub makes it, so that one link works on GitHub and on the site. */
export function anchorOf(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');
}
