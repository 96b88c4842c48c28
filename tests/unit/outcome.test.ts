import { ReplyError } from 'ioredis';
import {
  ClientClosedError,
  ClientOfflineError,
  DisconnectsClientError,
  ErrorReply,
  MaxCommandRedirectionsError,
  RootNodesUnavailableError,
  SimpleError,
  TimeoutError,
} from 'redis';
import * as redis5 from 'redis5';
import { describe, expect, it } from 'vitest';
import { ClosedError, DriverError, OptionError, OutcomeUnknownError } from '../../src/errors.ts';
import {
  CommandInDoubtError,
  classify,
  isSlotMoving,
  type Outcome,
  toHoldfastError,
  UnsentError,
} from '../../src/outcome.ts';

const SHA1 = 'a4b3bce979b6dfde4324b277660fe80ee57acf7a';
/** How Redis 7 and later word the error of a command that a script called. */
const since7 = (text: string) => `${text} script: ${SHA1}, on @user_script:3.`;
/** How Redis before 7 does. */
const before7 = (text: string) => `ERR Error running script (call to f_${SHA1}): @user_script:3: ${text}`;

function systemError(code: string, syscall: string): Error {
  return Object.assign(new Error(`${syscall} ${code}`), { code, syscall });
}

function reply(text: string): Error {
  return new ReplyError(text) as Error;
}

const WRONGTYPE = 'WRONGTYPE Operation against a key holding the wrong kind of value';
const NOT_A_LOCK =
  'the key holds a value that is not a lock; holdfast did not change it. Use another name, or keep names apart: ' +
  "mapName: (name) => 'locks:' + name, or the keyPrefix of your client";
const OOM = "OOM command not allowed when used memory > 'maxmemory'.";

const REPLIES: [Outcome, string][] = [
  ['transient', 'MOVED 3999 127.0.0.1:6381'],
  ['transient', 'ASK 3999 127.0.0.1:6381'],
  ['transient', 'TRYAGAIN Multiple keys request during rehashing of slot'],
  ['transient', 'CLUSTERDOWN Hash slot not served'],
  ['transient', 'LOADING Redis is loading the dataset in memory'],
  ['transient', 'BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.'],
  ['transient', "READONLY You can't write against a read only replica."],
  ['transient', since7("READONLY You can't write against a read only replica.")],
  ['transient', before7("-READONLY You can't write against a read only replica.")],
  ['transient', "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'."],
  ['transient', 'NOREPLICAS Not enough good replicas to write.'],
  ['transient', 'MISCONF Redis is configured to save RDB snapshots, but it is unable to persist to disk.'],
  ['transient', 'ERR max number of clients reached'],
  ['refused', OOM],
  ['refused', before7(`-${OOM}`)],
  ['refused', 'NOAUTH Authentication required.'],
  ['refused', 'WRONGPASS invalid username-password pair or user is disabled.'],
  ['refused', "NOPERM this user has no permissions to run the 'evalsha' command"],
  ['refused', since7(WRONGTYPE)],
  ['refused', before7(WRONGTYPE)],
  ['refused', 'NOSCRIPT No matching script. Please use EVAL.'],
  ['refused', 'ERR unknown command'],
  ['refused', "CROSSSLOT Keys in request don't hash to the same slot"],
  ['refused', 'BUSYGROUP Consumer Group name already exists'],
  ['refused', 'OURS an unknown code'],
  ['refused', 'no code at all'],
];

describe('classify', () => {
  it.each(REPLIES)('answers %s for the reply "%s", from every library', (outcome, text) => {
    for (const error of [
      reply(text),
      new SimpleError(text),
      new ErrorReply(text),
      new redis5.SimpleError(text),
    ]) {
      expect(classify(error)).toBe(outcome);
    }
  });

  it.each(REPLIES.filter(([, text]) => !/^(?:OURS|BUSYGROUP|no) /.test(text)))(
    'answers %s for the reply "%s" even if a bundler has renamed its class',
    (outcome, text) => {
      expect(classify(new Error(text))).toBe(outcome);
    },
  );

  it.each([
    ['connection refused', systemError('ECONNREFUSED', 'connect')],
    ['all addresses refused', Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' })],
    ['no such host', systemError('ENOTFOUND', 'getaddrinfo')],
    ['no route', systemError('EHOSTUNREACH', 'connect')],
    ['no such socket', systemError('ENOENT', 'connect')],
    ['closed node-redis client', new ClientClosedError()],
    ['offline node-redis client', new ClientOfflineError()],
    ['closed node-redis 5 client', new redis5.ClientClosedError()],
    ['full node-redis queue', new Error('The queue is full')],
    [
      'node-redis Cluster, redirected too often',
      new MaxCommandRedirectionsError(reply('MOVED 1 127.0.0.1:1')),
    ],
    ['node-redis Cluster, no node to ask', new RootNodesUnavailableError()],
    ['node-redis 5 Cluster, no node to ask', new redis5.RootNodesUnavailableError()],
    ['closing node-redis Cluster', new Error('Cluster closed')],
    ['node-redis Cluster, sent to an unknown node', new Error('Cannot find node 127.0.0.1:6381')],
    ['node-redis, no Sentinel', new Error('None of the sentinels are available')],
    ['node-redis, no primary', new Error('no valid master node')],
    ['busy node-redis 5 pool', new Error('Timeout waiting for a client')],
    ['busy node-redis pool', new TimeoutError('Timeout waiting for a client after 3000ms')],
    ['offline ioredis', new Error("Stream isn't writeable and enableOfflineQueue options is false")],
    ['turned away by a driver of ours', new UnsentError('The Cluster client is not connected')],
    ['our error for one of them', new DriverError('x', { cause: systemError('ECONNREFUSED', 'connect') })],
  ])('answers transient for a command that was certainly not sent: %s', (_, error) => {
    expect(classify(error)).toBe('transient');
  });

  it.each([
    ['reset', systemError('ECONNRESET', 'read')],
    ['broken pipe', systemError('EPIPE', 'write')],
    ['timed out', systemError('ETIMEDOUT', 'read')],
    ['route lost while connected', systemError('EHOSTUNREACH', 'read')],
    ['closed ioredis', new Error('Connection is closed.')],
    ['ioredis time-out', new Error('Command timed out')],
    [
      'ioredis retries',
      new Error('Reached the max retries per request limit (which is 0). Refer to "maxRetriesPerRequest"'),
    ],
    [
      'ioredis Cluster, which may have sent it before',
      new Error("Cluster isn't ready and enableOfflineQueue options is false"),
    ],
    [
      'ioredis Cluster, redirected too often',
      new Error('Too many Cluster redirections. Last error: ReplyError: MOVED 1 127.0.0.1:1'),
    ],
    ['ioredis Cluster without nodes', new Error('None of startup nodes is available')],
    ['ioredis flush', new Error('Command aborted due to connection close')],
    ['node-redis socket', new Error('Socket closed unexpectedly')],
    ['node-redis destroy', new DisconnectsClientError()],
    ['node-redis time-out', new TimeoutError()],
    ['our deadline', new CommandInDoubtError('the server did not answer within 100 ms')],
    ['our error for one of them', new DriverError('x', { cause: new Error('Connection is closed.') })],
    ['a word in capitals that is no code', new Error('TLS handshake failed')],
    ['an unknown error', new TypeError('x is not a function')],
    ['no error at all', 'MOVED 1 127.0.0.1:1'],
    ['nothing', undefined],
  ])('answers unknown for everything else: %s', (_, error) => {
    expect(classify(error)).toBe('unknown');
  });

  it('answers refused for commands that a library or holdfast refuses to send', () => {
    const subscribed = 'Connection in subscriber mode, only subscriber commands may be used';
    for (const error of [new Error(subscribed), new ClosedError(), new OptionError('no')]) {
      expect(classify(error)).toBe('refused');
    }
  });
});

describe('toHoldfastError', () => {
  const what = 'acquire "orders"';

  it('returns errors of this package unchanged', () => {
    for (const error of [new ClosedError(), new OutcomeUnknownError('x'), new OptionError('x')]) {
      expect(toHoldfastError(error, what)).toBe(error);
    }
  });

  it('keeps the cause and says that the outcome is unknown', () => {
    const cause = new Error('Connection is closed.');
    const error = toHoldfastError(cause, what);
    expect(error).toBeInstanceOf(OutcomeUnknownError);
    expect(error).toMatchObject({
      message: 'The outcome of the request to acquire "orders" is unknown: Connection is closed.',
      cause,
    });
    expect(toHoldfastError(undefined, what)).toBeInstanceOf(OutcomeUnknownError);
  });

  it('adds the operation to a driver error that says the outcome is unknown', () => {
    const cause = new CommandInDoubtError('the server did not answer within 100 ms');
    const error = toHoldfastError(cause, what);
    expect(error).toBeInstanceOf(OutcomeUnknownError);
    expect(error).toMatchObject({
      message:
        'The outcome of the request to acquire "orders" is unknown: the server did not answer within 100 ms',
      cause,
    });
    expect(toHoldfastError(error, 'release "orders"')).toBe(error);
  });

  it.each([
    [since7(WRONGTYPE), NOT_A_LOCK],
    [before7(WRONGTYPE), NOT_A_LOCK],
    [
      "NOPERM this user has no permissions to run the 'evalsha' command",
      "the server's access rules forbid the command: this user has no permissions to run the 'evalsha' command",
    ],
    [
      since7("ERR The user executing the script can't run this command or subcommand"),
      "the server's access rules forbid the command: The user executing the script can't run this command or subcommand",
    ],
    [
      since7("ERR ACL failure in script: User app has no permissions to run the 'hset' command"),
      "the server's access rules forbid the command: User app has no permissions to run the 'hset' command",
    ],
    [
      'NOAUTH Authentication required.',
      'the server requires a password, and the client has none. Give the client the username and password of its user',
    ],
    [
      'WRONGPASS invalid username-password pair or user is disabled.',
      "the server rejected the client's username and password. Correct the username and the password, or enable the " +
        'user (ACL SETUSER <user> on)',
    ],
    [since7(OOM), 'the server is out of memory (maxmemory) and rejects writes'],
    [before7(`-${OOM}`), 'the server is out of memory (maxmemory) and rejects writes'],
    [
      "READONLY You can't write against a read only replica.",
      'the server is a read-only replica. Connect to its primary, or through Sentinels: { sentinels, name }',
    ],
    ['ERR unknown command', 'unknown command'],
    ['OURS says no', 'OURS says no'],
  ])('explains "%s"', (text, explanation) => {
    const cause = reply(text);
    const error = toHoldfastError(cause, what);
    expect(error).toBeInstanceOf(DriverError);
    expect(error.message).toBe(`Could not acquire "orders": ${explanation}`);
    expect(error.cause).toBe(cause);
  });

  it('says that a server cannot be reached, also if the error has no message', () => {
    const refused = systemError('ECONNREFUSED', 'connect');
    expect(toHoldfastError(refused, what).message).toBe(
      'Could not acquire "orders": the server cannot be reached (connect ECONNREFUSED). Check that the server runs, and that ' +
        'the client has its address',
    );
    const wordless = Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' });
    expect(toHoldfastError(wordless, what).message).toBe(
      'Could not acquire "orders": the server cannot be reached (ECONNREFUSED). Check that the server runs, and that the client ' +
        'has its address',
    );
  });
});

describe('a slot that moves', () => {
  const sentAround = (last: string) =>
    new Error(`Too many Cluster redirections. Last error: ReplyError: ${last}`);

  it.each([
    reply('TRYAGAIN Multiple keys request during rehashing of slot'),
    reply('ASK 3999 127.0.0.1:6381'),
    sentAround('TRYAGAIN Multiple keys request during rehashing of slot'),
    sentAround('MOVED 3999 127.0.0.1:6381'),
    new Error('MOVED 3999 127.0.0.1:6381', { cause: sentAround('MOVED 3999 127.0.0.1:6381') }),
  ])('is recognised: %s', (error) => {
    expect(isSlotMoving(error)).toBe(true);
    expect(classify(error)).not.toBe('refused');
  });

  it.each([
    // What a client of a single server is told by a node of a Cluster, forever.
    reply('MOVED 3999 127.0.0.1:6381'),
    reply('CLUSTERDOWN Hash slot not served'),
    sentAround('CLUSTERDOWN Hash slot not served'),
    new Error('Too many Cluster redirections. Last error: Error: Connection is closed.'),
    undefined,
  ])('is not: %s', (error) => {
    expect(isSlotMoving(error)).toBe(false);
  });
});
