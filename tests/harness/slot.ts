/** Which of the 16384 slots of a Cluster a key falls into: CRC16 (XMODEM) of the key or of its hash tag. */

export const SLOTS = 16_384;

function crc16(bytes: Buffer): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
    crc &= 0xffff;
  }
  return crc;
}

/** What is between the first `{` and the next `}`, unless that is empty; else the whole key. */
function hashed(key: string): string {
  const open = key.indexOf('{');
  const close = open < 0 ? -1 : key.indexOf('}', open + 1);
  return close > open + 1 ? key.slice(open + 1, close) : key;
}

export function slotOf(key: string): number {
  return crc16(Buffer.from(hashed(key))) % SLOTS;
}
