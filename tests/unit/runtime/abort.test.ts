/** Many callbacks behind one listener for each signal. */
import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { onAbort } from '../../../src/runtime/abort.ts';

function listenersOf(signal: AbortSignal): number {
  return getEventListeners(signal, 'abort').length;
}

describe('onAbort', () => {
  it('puts one listener on a signal, whatever the number of callbacks', () => {
    const { signal } = new AbortController();
    for (let i = 0; i < 100; i += 1) onAbort(signal, () => {});
    expect(listenersOf(signal)).toBe(1);
  });

  it('calls every callback once with the reason', () => {
    const controller = new AbortController();
    const heard: unknown[] = [];
    for (let i = 0; i < 3; i += 1) onAbort(controller.signal, (reason) => heard.push([i, reason]));
    controller.abort('enough');
    controller.abort('again');
    expect(heard).toEqual([
      [0, 'enough'],
      [1, 'enough'],
      [2, 'enough'],
    ]);
  });

  it('does not call a removed callback, and removes the listener with the last callback', () => {
    const controller = new AbortController();
    const heard: string[] = [];
    const forgetA = onAbort(controller.signal, () => heard.push('a'));
    const forgetB = onAbort(controller.signal, () => heard.push('b'));
    forgetA();
    forgetA();
    expect(listenersOf(controller.signal)).toBe(1);
    forgetB();
    expect(listenersOf(controller.signal)).toBe(0);
    controller.abort();
    expect(heard).toEqual([]);
  });

  it('starts again after the last callback was removed', () => {
    const controller = new AbortController();
    const heard: string[] = [];
    const forgetOld = onAbort(controller.signal, () => heard.push('old'));
    forgetOld();
    const forgetNew = onAbort(controller.signal, () => heard.push('new'));
    // Late second call of the first one: it must not take the newcomer's listener.
    forgetOld();
    const forgetNewer = onAbort(controller.signal, () => heard.push('newer'));
    expect(listenersOf(controller.signal)).toBe(1);
    controller.abort();
    expect(heard).toEqual(['new', 'newer']);
    forgetNew();
    forgetNewer();
  });

  it('lets a callback remove itself and others during the calls', () => {
    const controller = new AbortController();
    const heard: string[] = [];
    const forgetA = onAbort(controller.signal, () => {
      heard.push('a');
      forgetA();
      forgetB();
    });
    const forgetB = onAbort(controller.signal, () => heard.push('b'));
    onAbort(controller.signal, () => heard.push('c'));
    controller.abort();
    expect(heard).toEqual(['a', 'c']);
  });
});
