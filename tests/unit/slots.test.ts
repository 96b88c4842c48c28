/** Slots of keys, against the values of the Cluster specification and of the CRC's own definition. */
import { expect, it } from 'vitest';
import { hashTag, slotOf, tagOfSlot } from '../../src/slots.ts';

it('computes the check value of CRC-16/XMODEM', () => {
  // The catalogue of CRCs gives 0x31c3 for these digits.
  expect(slotOf('123456789')).toBe(0x31c3 % 16_384);
});

it.each([
  ['user1000', 'user1000'],
  ['{user1000}.following', 'user1000'],
  ['foo{}{bar}', 'foo{}{bar}'],
  ['foo{{bar}}zap', '{bar'],
  ['foo{bar}{zap}', 'bar'],
  ['foo{bar', 'foo{bar'],
  ['foo}bar', 'foo}bar'],
  ['', ''],
])('reads the tag of %s as the specification has it', (key, tag) => {
  expect(hashTag(key)).toBe(tag);
  expect(slotOf(key)).toBe(slotOf(tag));
});

it('hashes the bytes of a name in UTF-8', () => {
  expect(slotOf('schlüssel')).not.toBe(slotOf('schlussel'));
  expect(slotOf('{schlüssel}:x')).toBe(slotOf('schlüssel'));
});

it('has a tag for every slot, always the same', () => {
  const tags = Array.from({ length: 16_384 }, (_, slot) => tagOfSlot(slot));
  expect(tags.map((tag) => slotOf(`x:{${tag}}`))).toEqual(tags.map((_, slot) => slot));
  expect(tagOfSlot(5_000)).toBe(tags[5_000]);
});
