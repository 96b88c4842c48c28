/** How wake-ups travel: publishing and subscribing always agree. */
import { describe, expect, it } from 'vitest';
import { WakeChannels } from '../../../../src/runtime/wake/channels.ts';

describe('wake-ups', () => {
  it.each([
    ['plain', 'PUBLISH'],
    ['sharded', 'SPUBLISH'],
  ] as const)('by %s channels are published with %s', (kind, publish) => {
    const channels = new WakeChannels(kind);
    expect(channels.kind).toBe(kind);
    expect(channels.publish).toBe(publish);
  });

  it.each(['plain', 'sharded'] as const)(
    'use plain channels, in both directions, once sharded ones are given up: %s',
    (kind) => {
      const channels = new WakeChannels(kind);
      channels.giveUpSharded();
      expect([channels.kind, channels.publish]).toEqual(['plain', 'PUBLISH']);
      channels.giveUpSharded();
      expect([channels.kind, channels.publish]).toEqual(['plain', 'PUBLISH']);
    },
  );
});
