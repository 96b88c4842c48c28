/** What a client remembers of the names it used. */
import { expect, it } from 'vitest';
import { OncePerName } from '../../../src/counters/once-per-name.ts';

it('tells what is new', () => {
  const oncePerName = new OncePerName();
  expect(oncePerName.has('a')).toBe(false);
  expect(oncePerName.add('a')).toBe(true);
  expect(oncePerName.add('a')).toBe(false);
  expect(oncePerName.has('a')).toBe(true);
  oncePerName.delete('a');
  expect(oncePerName.add('a')).toBe(true);
});

it('forgets the oldest of many, and no other', () => {
  const oncePerName = new OncePerName();
  for (let i = 0; i < 10_000; i += 1) oncePerName.add(`name ${i}`);
  expect(oncePerName.has('name 0')).toBe(true);
  oncePerName.add('one more');
  expect(oncePerName.has('name 0')).toBe(false);
  expect(oncePerName.has('name 1')).toBe(true);
  expect(oncePerName.has('one more')).toBe(true);
});
