import { describe, expect, it } from 'vitest';
import { PROBES } from '../../../src/cli/doctor/probes.ts';
import { refusalIn } from '../../../src/cli/refusal.ts';
import * as scripts from '../../../src/scripts/generated.ts';

describe('the trial of permissions', () => {
  it('tries every command that the scripts call', () => {
    const called = new Set<string>();
    for (const { source } of Object.values(scripts)) {
      for (const [, command = ''] of source.matchAll(/redis\.p?call\('(\w+)'/g))
        called.add(command.toLowerCase());
    }
    expect(called).toContain('hset');
    // Only the dashboard counts listeners, and goes on without: doctor does not ask for that permission.
    called.delete('pubsub');
    expect([...called].filter((command) => !(command in PROBES))).toEqual([]);
  });

  it.each([
    ["NOPERM User holdfast has no permissions to run the 'hset' command", 'command'],
    ["NOPERM this user has no permissions to run the 'hset' command or its subcommand", 'command'],
    ['NOPERM No permissions to access a key', 'key'],
    ['NOPERM this user has no permissions to access one of the keys used as arguments', 'key'],
    ['NOPERM No permissions to access a channel', 'channel'],
    ['NOPERM this user has no permissions to access one of the channels used as arguments', 'channel'],
    ["ERR unknown command 'hset', with args beginning with: ", 'command'],
    ['WRONGTYPE Operation against a key holding the wrong kind of value', null],
    ['MOVED 1 127.0.0.1:7000', null],
  ])('reads %j as a refusal of the %s', (message, refused) => {
    expect(refusalIn(message)).toBe(refused);
  });
});
