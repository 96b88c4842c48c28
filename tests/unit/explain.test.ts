/** The words for failures that servers and networks do not produce on demand; the others are in tests/chaos. */
import { describe, expect, it } from 'vitest';
import type { Condition } from '../../src/drivers/driver.ts';
import { explainCondition, explainConnecting, textOf, withoutLogin } from '../../src/explain.ts';

const CHECK = 'Check that the server runs, and that the client has its address';

function coded(message: string, code: string): Error {
  return Object.assign(new Error(message), { code });
}

function condition(more: Partial<Condition>): Condition {
  return {
    client: 'the client',
    state: 'status "connecting"',
    isClosed: false,
    isTls: false,
    hasPassword: false,
    lastError: undefined,
    ...more,
  };
}

describe('a connection that cannot be made', () => {
  it.each([
    ['a name nobody knows', coded('getaddrinfo ENOTFOUND redis', 'ENOTFOUND'), false, CHECK],
    ['no route', coded('connect EHOSTUNREACH 10.0.0.1:6379', 'EHOSTUNREACH'), false, CHECK],
    ['a silent server', new Error('the server did not answer within 100 ms'), false, CHECK],
    [
      'an answer that is not TLS',
      coded('write EPROTO wrong version number', 'EPROTO'),
      true,
      'The client speaks TLS: if the port does not, connect without TLS (redis://)',
    ],
    [
      'an alert in answer to plain text',
      new Error('Protocol error, got "\\u0015" as reply type byte'),
      false,
      'If the port expects TLS, connect with TLS (rediss://, or the option tls)',
    ],
    [
      'a certificate for another name',
      coded("Hostname/IP does not match certificate's altnames", 'ERR_TLS_CERT_ALTNAME_INVALID'),
      true,
      'Give the client the authority that signed the certificate of the server (tls: { ca })',
    ],
  ])('%s', (_, error, isTls, remedy) => {
    expect(explainConnecting(error, isTls)).toBe(`${error.message}. ${remedy}`);
  });

  it('any other reason stays as it is', () => {
    expect(explainConnecting(new Error('ERR no such master.'), false)).toBe('ERR no such master.');
    expect(explainConnecting('gone', true)).toContain('gone. ');
  });

  it('a name with several addresses: each of them', () => {
    const each = [
      coded('connect ECONNREFUSED ::1:1', 'ECONNREFUSED'),
      coded('connect ECONNREFUSED 127.0.0.1:1', 'x'),
    ];
    const error = Object.assign(new AggregateError(each), { code: 'ECONNREFUSED' });
    expect(textOf(error)).toBe('connect ECONNREFUSED ::1:1, connect ECONNREFUSED 127.0.0.1:1');
    expect(explainConnecting(error, false)).toBe(`${textOf(error)}. ${CHECK}`);
  });
});

describe('the state of a client', () => {
  it('says nothing while it is connected', () => {
    expect(explainCondition(undefined)).toBeUndefined();
    expect(explainCondition(condition({ state: undefined, lastError: new Error('old') }))).toBeUndefined();
  });

  it('says what to do even without an error', () => {
    expect(explainCondition(condition({}))).toBe(
      `the client is not connected (status "connecting"). ${CHECK}`,
    );
  });
});

describe('the cause', () => {
  it('loses the command of a login, and keeps any other', () => {
    const login = Object.assign(new Error('WRONGPASS'), { command: { name: 'hello', args: ['secret'] } });
    const other = Object.assign(new Error('ERR', { cause: login }), {
      command: { name: 'evalsha', args: [] },
    });
    expect(withoutLogin(other)).toBe(other);
    expect(login).not.toHaveProperty('command');
    expect(other).toHaveProperty('command.name', 'evalsha');
  });
});
