/** Members that come in order and leave from anywhere. */
import { describe, expect, it } from 'vitest';
import { LinkedList } from '../../src/linked-list.ts';

function listOf(...members: string[]) {
  const list = new LinkedList<string>();
  const places = new Map(members.map((member) => [member, list.add(member)]));
  const remove = (member: string) => {
    const place = places.get(member);
    if (place !== undefined) list.remove(place);
  };
  return { list, places, remove };
}

describe('LinkedList', () => {
  it('has its members in order of insertion', () => {
    const { list } = listOf('a', 'b', 'c');
    expect([...list]).toEqual(['a', 'b', 'c']);
    expect([list.first, list.isEmpty]).toEqual(['a', false]);
  });

  it.each([
    ['a', ['b', 'c']],
    ['b', ['a', 'c']],
    ['c', ['a', 'b']],
  ])('removes %s, and keeps the others in order', (leaving, left) => {
    const { list, remove } = listOf('a', 'b', 'c');
    remove(leaving);
    remove(leaving);
    expect([...list]).toEqual(left);
    list.add('d');
    expect([...list]).toEqual([...left, 'd']);
  });

  it('is empty when the last member has left, and can be filled again', () => {
    const { list, remove } = listOf('a');
    remove('a');
    expect([[...list], list.first, list.isEmpty]).toEqual([[], undefined, true]);
    list.add('b');
    expect([...list]).toEqual(['b']);
  });

  it('can be iterated while the current member leaves', () => {
    const { list, remove } = listOf('a', 'b', 'c');
    const seen: string[] = [];
    for (const member of list) {
      seen.push(member);
      remove(member);
    }
    expect([seen, list.isEmpty]).toEqual([['a', 'b', 'c'], true]);
  });

  it('ends an iteration whose next member has left', () => {
    const { list, remove } = listOf('a', 'b', 'c');
    const seen: string[] = [];
    for (const member of list) {
      seen.push(member);
      remove('b');
    }
    expect(seen).toEqual(['a']);
    expect([...list]).toEqual(['a', 'c']);
  });

  it('does not retain a member through a removed one', () => {
    const { places, remove } = listOf('a', 'b', 'c');
    remove('b');
    expect(places.get('b')).toMatchObject({ previous: undefined, next: undefined, isLinked: false });
  });
});
