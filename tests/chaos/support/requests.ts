/** What the proxy sees of a script that a client runs. */
export function runs({ sha1 }: { readonly sha1: string }): string {
  return `EVALSHA ${sha1}`;
}
