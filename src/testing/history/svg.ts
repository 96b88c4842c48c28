/** Elements of a drawing, as text. */

type Attributes = Readonly<Record<string, string | number | undefined>>;

/** Escapes text for use anywhere in a page. */
export function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

/** One element. `inside` is markup; `tip` is shown when the reader points at the element. */
export function element(name: string, attributes: Attributes, inside = '', tip = ''): string {
  const given = Object.entries(attributes)
    .filter(([, value]) => value !== undefined)
    .map(
      ([key, value]) => ` ${key}="${typeof value === 'number' ? rounded(value) : escaped(String(value))}"`,
    );
  const title = tip === '' ? '' : `<title>${escaped(tip)}</title>`;
  const content = title + inside;
  return content === '' ? `<${name}${given.join('')}/>` : `<${name}${given.join('')}>${content}</${name}>`;
}

function rounded(value: number): string {
  return String(Math.round(value * 100) / 100);
}
