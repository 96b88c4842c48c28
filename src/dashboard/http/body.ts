/**
 * Reads the body of a request, up to a limit.
 */

/** A name, an owner and some JSON around them. */
const LARGEST_BODY = 16_384;

/** The text; undefined if it is larger. */
export async function readBody(request: Request): Promise<string | undefined> {
  if (request.body === null) return '';
  const decoder = new TextDecoder();
  let size = 0;
  let body = '';
  for await (const chunk of request.body) {
    size += chunk.byteLength;
    if (size > LARGEST_BODY) return undefined;
    body += decoder.decode(chunk, { stream: true });
  }
  return body + decoder.decode();
}
