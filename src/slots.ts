/**
 * Which of the 16,384 slots of a Cluster a key or channel belongs to.
 */

const SLOTS = 16_384;

/** CRC-16 of the XMODEM kind (polynomial 0x1021, nothing reflected), one entry for each byte. */
const CRC16 = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit += 1) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
  return crc;
});

/** The part that determines the slot: the text in the first braces, or the whole key if there is none. */
export function hashTag(key: string): string {
  const open = key.indexOf('{');
  if (open === -1) return key;
  const close = key.indexOf('}', open + 1);
  return close === -1 || close === open + 1 ? key : key.slice(open + 1, close);
}

export function slotOf(key: string): number {
  let crc = 0;
  for (const byte of Buffer.from(hashTag(key))) {
    crc = ((crc << 8) & 0xffff) ^ (CRC16[((crc >> 8) ^ byte) & 0xff] as number);
  }
  return crc % SLOTS;
}

const tags = new Map<number, string>();
let nextTag = 0;

/** A short hash tag that falls into the slot, always the same: for keys that represent a slot. */
export function tagOfSlot(slot: number): string {
  for (let tag = tags.get(slot); ; tag = tags.get(slot)) {
    if (tag !== undefined) return tag;
    // Every number tried is kept for the slot it falls into, so that later searches are short.
    const tried = String(nextTag);
    const found = slotOf(tried);
    if (!tags.has(found)) tags.set(found, tried);
    nextTag += 1;
  }
}
