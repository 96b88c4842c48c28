/**
 * Runs a command under a lock: acquire, run, stop in time if the lock is lost, release.
 */
import type { Holdfast } from '../../client.ts';
import { holdersOf, labelOf, permitsOf } from '../../inspect/reading.ts';
import { EXIT } from '../exit-codes.ts';
import { messageOf } from '../failure.ts';
import { CommandChild } from './child.ts';
import { acquireGrant, type Grant, type GrantRequest } from './grant.ts';
import type { Tell } from './messages.ts';
import type { OnceMarker } from './once.ts';
import type { Retreat } from './retreat.ts';
import { RunSignals } from './run-signals.ts';
import { supervise } from './supervise.ts';

export interface RunPlan {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly request: Omit<GrantRequest, 'signal'>;
  readonly retreat: Retreat;
  readonly label: string;
  readonly once?: { readonly name: string; readonly marker: OnceMarker; readonly keepMs: number | undefined };
}

/** Who is in the way; nobody if that cannot be told. */
async function holdersNow(client: Holdfast, name: string): Promise<string[]> {
  try {
    const found = await client.inspect(name);
    return [...holdersOf(found).map(labelOf), ...permitsOf(found).map(({ id }) => id)];
  } catch {
    return [];
  }
}

async function isDone({ name, once }: RunPlan, tell: Tell): Promise<boolean> {
  const done = (await once?.marker.read()) ?? null;
  if (done !== null) tell({ event: 'skipped', name, once: once?.name ?? '', done });
  return done !== null;
}

/** What the command learns of its lock. A token that we have inherited belongs to another lock. */
function environmentOf(name: string, { owner, token }: Grant): NodeJS.ProcessEnv {
  return { HOLDFAST_NAME: name, HOLDFAST_OWNER: owner, HOLDFAST_TOKEN: token?.toString() };
}

function reasonOf(grant: Grant): string {
  return grant.signal.aborted
    ? messageOf(grant.signal.reason)
    : 'its lease is running out and was not renewed';
}

/** Resolves to the exit code of the command, or to that of a lost lock. */
async function runHolding(plan: RunPlan, grant: Grant, signals: RunSignals, tell: Tell): Promise<number> {
  const { name, command, args, retreat, once, label } = plan;
  const child = new CommandChild(command, args, environmentOf(name, grant));
  signals.passTo((signal) => child.passOn(signal));
  const isStopped = await supervise(grant, child, retreat, (remainingMs) => {
    tell({ event: 'stopping', name, remainingMs, reason: reasonOf(grant) });
  });
  const code = await child.exited;
  if (isStopped) {
    child.endGroup();
    return EXIT.lost;
  }
  // Reading the signal checks the clock.
  if (grant.signal.aborted) {
    tell({ event: 'lost', name, reason: reasonOf(grant) });
    return EXIT.lost;
  }
  if (once !== undefined && code === 0) {
    await once.marker.write({ label, at: new Date().toISOString() }, once.keepMs);
  }
  return code;
}

/** Resolves to whether the lock was still ours. */
async function release(name: string, grant: Grant, tell: Tell): Promise<boolean> {
  try {
    const isReleased = await grant.release();
    if (isReleased) tell({ event: 'released', name });
    return isReleased;
  } catch (error) {
    // The command ended while the lock was held: that the release failed does not change it.
    tell({ event: 'notReleased', name, reason: messageOf(error) });
    return true;
  }
}

/** Resolves to the exit code of `holdfast run`. */
export async function runCommand(client: Holdfast, plan: RunPlan, tell: Tell): Promise<number> {
  const { name, request } = plan;
  using signals = new RunSignals();
  // Without waiting for the lock, and again under it: the command may have run in between.
  if (await isDone(plan, tell)) return EXIT.ok;
  const grant = await acquireGrant(client, name, { ...request, signal: signals.whileWaiting });
  if (grant === null) {
    tell({ event: 'timedOut', name, waitMs: request.waitMs, holders: await holdersNow(client, name) });
    return EXIT.timedOut;
  }
  tell({ event: 'acquired', name, owner: grant.owner, token: grant.token });
  try {
    const isDoneMeanwhile = await isDone(plan, tell);
    signals.whileWaiting.throwIfAborted();
    if (isDoneMeanwhile) {
      await release(name, grant, tell);
      return EXIT.ok;
    }
  } catch (error) {
    await release(name, grant, tell);
    throw error;
  }
  let code: number = EXIT.lost;
  try {
    code = await runHolding(plan, grant, signals, tell);
  } finally {
    const wasOurs = await release(name, grant, tell);
    if (!wasOurs && code !== EXIT.lost) {
      tell({ event: 'lost', name, reason: 'the server no longer has this hold' });
      code = EXIT.lost;
    }
  }
  return code;
}
