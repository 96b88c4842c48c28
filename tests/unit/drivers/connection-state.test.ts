import { describe, expect, it, vi } from 'vitest';
import { ConnectionStates } from '../../../src/drivers/connection-state.ts';

function setUp() {
  const connectionStates = new ConnectionStates();
  const drop = vi.fn();
  const onDown = vi.fn();
  return { connectionStates, drop, onDown, connectionState: connectionStates.add(drop, onDown) };
}

const reason = new Error('connect ECONNREFUSED');

describe('ConnectionState', () => {
  it('rejects while opening with the first failure, drops once and reports nothing', async () => {
    const { connectionState, drop, onDown } = setUp();
    const opening = connectionState.open(new Promise(() => {}));
    connectionState.fail(reason);
    connectionState.fail(new Error('Connection is closed.'));
    await expect(opening).rejects.toBe(reason);
    expect(drop).toHaveBeenCalledOnce();
    expect(onDown).not.toHaveBeenCalled();
  });

  it('drops when a step of opening fails', async () => {
    const { connectionState, drop } = setUp();
    await expect(connectionState.open(Promise.reject(reason))).rejects.toBe(reason);
    expect(drop).toHaveBeenCalledOnce();
  });

  it('rejects when it breaks between the last step and the end of opening', async () => {
    const { connectionState, onDown } = setUp();
    const steps = Promise.resolve();
    const opening = connectionState.open(steps);
    void steps.then(() => connectionState.fail(reason));
    await expect(opening).rejects.toBe(reason);
    expect(onDown).not.toHaveBeenCalled();
  });

  it('reports once that an open connection broke', async () => {
    const { connectionState, drop, onDown } = setUp();
    await connectionState.open(Promise.resolve());
    connectionState.fail(reason);
    connectionState.fail(new Error('again'));
    connectionState.destroy();
    expect(onDown.mock.calls).toEqual([[reason]]);
    expect(drop).toHaveBeenCalledOnce();
    expect(() => connectionState.assertAlive()).toThrow(reason);
  });

  it('reports nothing after destroy, and drops all connections of a driver together', async () => {
    const { connectionStates, connectionState, drop, onDown } = setUp();
    const another = vi.fn();
    const opening = connectionStates.add(another, onDown).open(new Promise(() => {}));
    await connectionState.open(Promise.resolve());
    connectionStates.destroyAll();
    connectionStates.destroyAll();
    connectionState.fail(reason);
    await expect(opening).rejects.toThrow('The client closed its dedicated connection');
    expect(drop).toHaveBeenCalledOnce();
    expect(another).toHaveBeenCalledOnce();
    expect(onDown).not.toHaveBeenCalled();
  });

  it('reports all open connections as broken, and lets new ones follow', async () => {
    const { connectionStates, connectionState, onDown } = setUp();
    await connectionState.open(Promise.resolve());
    const opening = connectionStates.add(vi.fn(), onDown).open(new Promise(() => {}));
    connectionStates.failAll(reason);
    await expect(opening).rejects.toBe(reason);
    expect(onDown.mock.calls).toEqual([[reason]]);
    await connectionStates.add(vi.fn(), onDown).open(Promise.resolve());
    expect(connectionStates.isOver).toBe(false);
  });
});
