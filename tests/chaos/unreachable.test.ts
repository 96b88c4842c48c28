/** Nothing answers. Every call settles in time, and what was left undone is caught up with. */
import { expect, it } from 'vitest';
import { DriverError, HoldfastError, OutcomeUnknownError } from '../../src/index.ts';
import { randomName } from '../harness/names.ts';
import { describeWithProcess } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';
import { arena, join, listenTo, SLACK_MS, timed } from './support/arena.ts';
import { CASES } from './support/unanswered.ts';

const COMMAND_TIMEOUT_MS = 500;

describeWithProcess('nothing answers', () => {
  it.each(CASES)('$title, $way: every call settles in time', async ({ way, fault }) => {
    const place = await arena();
    const client = await join(way, place.proxy, { commandTimeoutMs: COMMAND_TIMEOUT_MS });
    const errors = listenTo(client).error;
    const lock = (role: string) => client.getLock(`${role}:${randomName()}`);
    const [unlocked, extended, forced] = [lock('unlock'), lock('extend'), lock('force')];
    const [toUnlock, toExtend] = [await unlocked.lock(), await extended.lock()];
    await forced.lock();
    let leaveSection: () => void = () => {};
    const inside = new Promise<void>((resolve) => {
      leaveSection = resolve;
    });
    let work: Promise<unknown> = Promise.resolve();
    await new Promise<void>((entered) => {
      work = lock('section').withLock(async () => {
        entered();
        await inside;
        return 'done';
      });
    });

    await fault.begin(place);
    leaveSection();
    const waitMs = 300;
    const calls = {
      lock: timed(lock('free').lock()),
      tryLock: timed(lock('free').tryLock()),
      tryLockWait: timed(lock('free').tryLock({ waitMs })),
      withLock: timed(lock('free').withLock(() => 'never', { waitMs })),
      unlock: timed(toUnlock.unlock()),
      extend: timed(toExtend.extend(60_000)),
      forceUnlock: timed(forced.forceUnlock()),
      isLocked: timed(forced.isLocked()),
      remainingMs: timed(forced.getRemainingMs()),
      inspect: timed(client.inspect('free')),
      section: timed(work),
    };
    const settled = await Promise.all(
      Object.entries(calls).map(async ([call, settling]) => ({ call, ...(await settling) })),
    );
    await fault.end(place);

    for (const { call, tookMs, error, value } of settled) {
      const waits = call === 'tryLockWait' || call === 'withLock';
      expect(tookMs, call).toBeLessThan(COMMAND_TIMEOUT_MS + (waits ? waitMs : 0) + SLACK_MS);
      if (call === 'section') {
        // What the work did is done; that its release is in doubt goes to the listeners.
        expect(value).toBe('done');
        expect(errors.map(({ during }) => during)).toContainEqual(expect.stringMatching(/^release "section/));
      } else {
        expect(error, call).toBeInstanceOf(HoldfastError);
        expect(error instanceof OutcomeUnknownError || error instanceof DriverError, call).toBe(true);
      }
    }
    // The release that found nobody is repeated: the lock is free long before its lease of 30 s.
    const { server } = place;
    await eventually(async () => (await server.command('EXISTS', unlocked.name)) === 0, { withinMs: 8_000 });
    expect(await timed(lock('after').tryLock({ waitMs: 3_000 }))).toMatchObject({
      value: { remainingMs: expect.any(Number) },
    });
  });
});
