/** Owners as people can tell them apart. */

const UUID = /^([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i;

/** The owner field with the client's id cut to its first eight digits. */
export function shortOwner(owner: string): string {
  return owner.replace(UUID, '$1…');
}
