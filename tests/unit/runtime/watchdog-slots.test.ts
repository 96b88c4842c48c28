/** Renewals in a Cluster: a script can only speak of keys of one slot. */
import { describe, expect, it } from 'vitest';
import { Runtime } from '../../../src/runtime/runtime.ts';
import { Tenure } from '../../../src/runtime/tenure.ts';
import { WakeChannels } from '../../../src/runtime/wake/channels.ts';
import { slotOf } from '../../../src/slots.ts';
import { ManualClock } from '../../harness/manual-clock.ts';
import { Bench, HandDrivenProtocol, NotingEntry, NotingRenewal, Reports } from '../support/bench.ts';
import { CarryingDriver } from '../support/carrying-driver.ts';
import { reset } from '../support/deferred.ts';

function setUp() {
  const clock = new ManualClock();
  const { report, takeBack } = new Reports();
  const driver = new CarryingDriver();
  const runtime = new Runtime({
    clientId: 'c',
    label: 'bench',
    driver,
    clock,
    watchdogMs: 30_000,
    commandTimeoutMs: 3_000,
    report,
    takeBack,
    channels: new WakeChannels('sharded'),
    peek: async (keys) => keys.map(() => -1),
  });
  const renewal = new NotingRenewal(clock);
  const hold = (name: string) => {
    const entry = new NotingEntry(true);
    const grant = { owner: `c:${name}`, sentAt: clock.now(), leaseMs: 30_000 };
    const tenure = new Tenure(runtime, new HandDrivenProtocol(name, renewal), grant, entry, () => {});
    return { entry, tenure };
  };
  return { clock, hold, renewal };
}

/** Names of which several share a slot. */
const NAMES = ['{x}1', 'y', '{x}2', '{z}1', '{x}3', '{z}2'];

describe('renewals in a Cluster', () => {
  it('are sent together for each slot, all in one turn', async () => {
    const { clock, hold, renewal } = setUp();
    for (const name of NAMES) hold(name);
    await clock.advance(10_000);
    expect(renewal.calls.map(({ keys }) => keys)).toEqual([
      ['{x}1', '{x}2', '{x}3'],
      ['y'],
      ['{z}1', '{z}2'],
    ]);
    expect(new Set(renewal.calls.map(({ atMs }) => atMs)).size).toBe(1);
    for (const { keys, owners } of renewal.calls) {
      expect(new Set(keys.map(slotOf)).size).toBe(1);
      expect(owners).toEqual(keys.map((key) => `c:${key}`));
    }
  });

  it('of a slot whose server is down do not affect the others', async () => {
    const { clock, hold, renewal } = setUp();
    const holds = NAMES.map((name) => ({ name, ...hold(name) }));
    renewal.answer = async (keys) => {
      if (keys.some((key) => key.startsWith('{x}'))) throw reset();
      return keys.map(() => 1);
    };
    await clock.advance(60_000);
    for (const { name, entry } of holds) {
      expect(entry.reasons, name).toEqual(name.startsWith('{x}') ? ['unreachable'] : []);
    }
  });

  it('hold at most 100 locks of a slot', async () => {
    const { clock, hold, renewal } = setUp();
    for (let i = 0; i < 101; i += 1) hold(`{x}${i}`);
    await clock.advance(10_000);
    expect(renewal.calls.map(({ keys }) => keys.length)).toEqual([100, 1]);
  });
});

describe('renewals elsewhere', () => {
  it('are sent together whatever their slots', async () => {
    const bench = new Bench();
    const renewal = new NotingRenewal(bench.clock);
    for (const name of NAMES) bench.hold(new HandDrivenProtocol(name, renewal));
    await bench.clock.advance(10_000);
    expect(renewal.calls.map(({ keys }) => keys)).toEqual([NAMES]);
  });
});
