import { describe, expect, it, vi } from 'vitest';
import { Lifelines } from '../../src/drivers/connection-state.ts';

function setUp() {
  const lifelines = new Lifelines();
  const drop = vi.fn();
  const onDown = vi.fn();
  return { lifelines, drop, onDown, lifeline: lifelines.add(drop, onDown) };
}

const reason = new Error('connect ECONNREFUSED');

describe('Lifeline', () => {
  it('rejects while opening with the first failure, drops once and tells nobody', async () => {
    const { lifeline, drop, onDown } = setUp();
    const opening = lifeline.open(new Promise(() => {}));
    lifeline.fail(reason);
    lifeline.fail(new Error('Connection is closed.'));
    await expect(opening).rejects.toBe(reason);
    expect(drop).toHaveBeenCalledOnce();
    expect(onDown).not.toHaveBeenCalled();
  });

  it('drops when a step of opening fails', async () => {
    const { lifeline, drop } = setUp();
    await expect(lifeline.open(Promise.reject(reason))).rejects.toBe(reason);
    expect(drop).toHaveBeenCalledOnce();
  });

  it('rejects when it breaks between the last step and the end of opening', async () => {
    const { lifeline, onDown } = setUp();
    const steps = Promise.resolve();
    const opening = lifeline.open(steps);
    void steps.then(() => lifeline.fail(reason));
    await expect(opening).rejects.toBe(reason);
    expect(onDown).not.toHaveBeenCalled();
  });

  it('tells once that an open connection broke', async () => {
    const { lifeline, drop, onDown } = setUp();
    await lifeline.open(Promise.resolve());
    lifeline.fail(reason);
    lifeline.fail(new Error('again'));
    lifeline.destroy();
    expect(onDown.mock.calls).toEqual([[reason]]);
    expect(drop).toHaveBeenCalledOnce();
    expect(() => lifeline.assertAlive()).toThrow(reason);
  });

  it('tells nothing after destroy, and drops all of a driver together', async () => {
    const { lifelines, lifeline, drop, onDown } = setUp();
    const another = vi.fn();
    const opening = lifelines.add(another, onDown).open(new Promise(() => {}));
    await lifeline.open(Promise.resolve());
    lifelines.destroyAll();
    lifelines.destroyAll();
    lifeline.fail(reason);
    await expect(opening).rejects.toThrow('closed by us');
    expect(drop).toHaveBeenCalledOnce();
    expect(another).toHaveBeenCalledOnce();
    expect(onDown).not.toHaveBeenCalled();
  });

  it('tells of all that were open that they broke, and lets others follow', async () => {
    const { lifelines, lifeline, onDown } = setUp();
    await lifeline.open(Promise.resolve());
    const opening = lifelines.add(vi.fn(), onDown).open(new Promise(() => {}));
    lifelines.failAll(reason);
    await expect(opening).rejects.toBe(reason);
    expect(onDown.mock.calls).toEqual([[reason]]);
    await lifelines.add(vi.fn(), onDown).open(Promise.resolve());
    expect(lifelines.isOver).toBe(false);
  });
});
