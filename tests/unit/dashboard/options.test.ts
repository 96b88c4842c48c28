import { describe, expect, it } from 'vitest';
import { checkDashboardOptions, type DashboardOptions } from '../../../src/dashboard/options.ts';

const TOKEN = 'sixteen-letters-';

describe('the options of a dashboard', () => {
  it('ask for protection, or a word that there is none', () => {
    for (const given of [undefined, {}, { unprotected: false }]) {
      expect(() => checkDashboardOptions(given)).toThrow(/authorize\(request\).*token.*unprotected: true/);
    }
    expect(checkDashboardOptions({ unprotected: true }).protection).toEqual({ by: 'nothing' });
    expect(checkDashboardOptions({ token: TOKEN }).protection).toEqual({ by: 'token', token: TOKEN });
  });

  it('have safe defaults', () => {
    expect(checkDashboardOptions({ token: TOKEN })).toMatchObject({
      allowFree: false,
      counters: false,
      pattern: '*',
      title: 'holdfast',
      hosts: undefined,
      maxCommandsPerSecond: 1_000,
    });
    const { hosts } = checkDashboardOptions({ unprotected: true });
    expect(hosts).toEqual(['localhost', '127.0.0.1', '[::1]']);
  });

  it.each<[string, object, string]>([
    ['two protections', { token: TOKEN, unprotected: true }, 'token and unprotected exclude each other'],
    ['a short token', { token: 'short' }, 'token must have at least 16 printable ASCII characters'],
    ['a token with a line break', { token: `${TOKEN}\n` }, 'token must have'],
    ['an unknown option', { token: TOKEN, allowfree: true }, 'Unknown option "allowfree"'],
    [
      'a host with a port',
      { token: TOKEN, hosts: ['a:80'] },
      'hosts must be a list of host names without ports',
    ],
    ['no hosts', { token: TOKEN, hosts: [] }, 'hosts must be a list'],
    [
      'no commands',
      { token: TOKEN, maxCommandsPerSecond: 0 },
      'maxCommandsPerSecond must be a whole number from 10',
    ],
    ['a title with control characters', { token: TOKEN, title: 'a\nb' }, 'title must be a string'],
    ['an empty pattern', { token: TOKEN, pattern: '' }, 'pattern must be a non-empty string'],
    ['an audit that is a path', { token: TOKEN, audit: 'file' }, 'audit must be a function'],
  ])('refuse %s', (_title, given, message) => {
    expect(() => checkDashboardOptions(given as DashboardOptions)).toThrow(message);
  });

  it('do not show a token that is refused', () => {
    expect(() => checkDashboardOptions({ token: 'my secret' })).toThrow(/^(?!.*my secret)/);
  });
});
