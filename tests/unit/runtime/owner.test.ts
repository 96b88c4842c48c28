/** Owners, their numbers, and which section the running code is in. */
import { describe, expect, it } from 'vitest';
import { Owner, OwnerNumbers, Section, Sections } from '../../../src/runtime/owner.ts';
import { defer } from '../support/deferred.ts';

const owner = () => new Owner('client');

describe('OwnerNumbers', () => {
  it('never gives a number twice', () => {
    const numbers = new OwnerNumbers('00000000-0000-4000-8000-000000000000');
    const given = Array.from({ length: 1_000 }, () => numbers.next());
    expect(new Set(given).size).toBe(1_000);
    expect(given[0]).toBe('00000000-0000-4000-8000-000000000000:1');
    for (const field of given) expect(field).toMatch(/^[0-9a-f-]{36}:[1-9]\d*$/);
  });
});

describe('Owner', () => {
  it('has one interest for each key, separate from those of other owners', () => {
    const [me, other] = [owner(), owner()];
    expect(me.interestIn('a')).toBe(me.interestIn('a'));
    expect(me.interestIn('a')).not.toBe(me.interestIn('b'));
    expect(me.interestIn('a')).not.toBe(other.interestIn('a'));
    expect(me.interestIn('a').tenure).toBe(undefined);
  });
});

describe('Sections', () => {
  it('knows no section outside of one', async () => {
    const sections = new Sections();
    expect(sections.current()).toBe(undefined);
    await sections.run(new Section(owner(), undefined), async () => {});
    expect(sections.current()).toBe(undefined);
  });

  it('follows asynchronous calls, and nests', async () => {
    const sections = new Sections();
    const outer = new Section(owner(), undefined);
    const answer = await sections.run(outer, async () => {
      await Promise.resolve();
      expect(sections.current()).toBe(outer);
      const inner = new Section(outer.owner, sections.current());
      await sections.run(inner, async () => {
        await new Promise((resolve) => setImmediate(resolve));
        expect(sections.current()).toBe(inner);
      });
      expect(sections.current()).toBe(outer);
      return 'done';
    });
    expect(answer).toBe('done');
  });

  it('keeps sections side by side apart', async () => {
    const sections = new Sections();
    const pair = [new Section(owner(), undefined), new Section(owner(), undefined)];
    const seen = await Promise.all(
      pair.map((section) =>
        sections.run(section, async () => {
          await new Promise((resolve) => setImmediate(resolve));
          return sections.current();
        }),
      ),
    );
    expect(seen[0]).toBe(pair[0]);
    expect(seen[1]).toBe(pair[1]);
  });

  it('work that outlives its section is outside of it', async () => {
    const sections = new Sections();
    const go = defer();
    let detached: Promise<Section | undefined> = Promise.resolve(undefined);
    await sections.run(new Section(owner(), undefined), async () => {
      detached = go.promise.then(() => sections.current());
    });
    go.resolve();
    expect(await detached).toBe(undefined);
  });

  it('work that outlives an inner section belongs to the nearest section that has not ended', async () => {
    const sections = new Sections();
    const [go, goOn] = [defer(), defer()];
    const outer = new Section(owner(), undefined);
    let seen: (Section | undefined)[] = [];
    let detached: Promise<void> = Promise.resolve();
    await sections.run(outer, async () => {
      const middle = new Section(outer.owner, outer);
      await sections.run(middle, () =>
        sections.run(new Section(outer.owner, middle), async () => {
          detached = (async () => {
            await go.promise;
            seen.push(sections.current());
            await goOn.promise;
            seen.push(sections.current());
          })();
        }),
      );
      go.resolve();
      await new Promise((resolve) => setImmediate(resolve));
    });
    goOn.resolve();
    await detached;
    expect(seen).toEqual([outer, undefined]);
    seen = [];
  });

  it('ends also when the work throws', async () => {
    const sections = new Sections();
    const section = new Section(owner(), undefined);
    const failing = sections.run(section, () => {
      throw new Error('the work’s own');
    });
    await expect(failing).rejects.toThrow('the work’s own');
    expect(section.isOver).toBe(true);
  });

  it('inside means nested, at any depth, and not beside', () => {
    const top = new Section(owner(), undefined);
    const child = new Section(top.owner, top);
    const grandchild = new Section(top.owner, child);
    const sibling = new Section(top.owner, top);
    expect(grandchild.isInside(top)).toBe(true);
    expect(grandchild.isInside(child)).toBe(true);
    expect(child.isInside(grandchild)).toBe(false);
    expect(sibling.isInside(child)).toBe(false);
    expect(top.isInside(top)).toBe(false);
  });
});
