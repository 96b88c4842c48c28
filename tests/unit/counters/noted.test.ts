/** What a client remembers of the names it used. */
import { expect, it } from 'vitest';
import { Noted } from '../../../src/counters/noted.ts';

it('tells what is new', () => {
  const noted = new Noted();
  expect(noted.has('a')).toBe(false);
  expect(noted.add('a')).toBe(true);
  expect(noted.add('a')).toBe(false);
  expect(noted.has('a')).toBe(true);
  noted.delete('a');
  expect(noted.add('a')).toBe(true);
});

it('forgets the oldest of many, and no other', () => {
  const noted = new Noted();
  for (let i = 0; i < 10_000; i += 1) noted.add(`name ${i}`);
  expect(noted.has('name 0')).toBe(true);
  noted.add('one more');
  expect(noted.has('name 0')).toBe(false);
  expect(noted.has('name 1')).toBe(true);
  expect(noted.has('one more')).toBe(true);
});
