import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CommandBudget } from '../../../src/dashboard/sampling/command-budget.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

/** Takes as often as it may; answers how often that was. */
function greedy(budget: CommandBudget, most: number): () => number {
  let taken = 0;
  for (let i = 0; i < most; i += 1) {
    void budget.take().then(
      () => {
        taken += 1;
      },
      () => undefined,
    );
  }
  return () => taken;
}

describe('the budget of commands', () => {
  it('gives no more in a second than it may', async () => {
    const budget = new CommandBudget(100);
    const taken = greedy(budget, 1_000);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(taken()).toBeGreaterThan(80);
    expect(taken()).toBeLessThanOrEqual(100);
    await vi.advanceTimersByTimeAsync(4_000);
    expect(taken()).toBeGreaterThan(430);
    expect(taken()).toBeLessThanOrEqual(460);
  });

  it('does not save up for long', async () => {
    const budget = new CommandBudget(100);
    await vi.advanceTimersByTimeAsync(60_000);
    const taken = greedy(budget, 1_000);
    await vi.advanceTimersByTimeAsync(0);
    expect(taken()).toBe(10);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(taken()).toBeLessThanOrEqual(100);
  });

  it('serves in the order of the calls', async () => {
    const budget = new CommandBudget(10);
    const served: number[] = [];
    for (const i of [1, 2, 3, 4]) void budget.take().then(() => served.push(i));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(served).toEqual([1, 2, 3, 4]);
  });

  it('can be slowed down', async () => {
    const budget = new CommandBudget(1_000);
    const taken = greedy(budget, 10_000);
    await vi.advanceTimersByTimeAsync(1_000);
    const before = taken();
    budget.perSecond = 10;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(taken() - before).toBeGreaterThan(80);
    expect(taken() - before).toBeLessThanOrEqual(92);
  });

  it('measures what was sent in the last seconds', async () => {
    const budget = new CommandBudget(100);
    greedy(budget, 500);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(budget.measured()).toBeGreaterThan(80);
    expect(budget.measured()).toBeLessThanOrEqual(92);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(budget.measured()).toBe(0);
  });

  it('refuses everything once it is closed', async () => {
    const budget = new CommandBudget(10);
    await budget.take();
    const waiting = budget.take();
    budget.close();
    await expect(waiting).rejects.toThrow('closed');
    await expect(budget.take()).rejects.toThrow('closed');
    expect(vi.getTimerCount()).toBe(0);
  });
});
