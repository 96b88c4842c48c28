/**
 * How faults are written down: what begins them says at each step how it is undone, so that the end is right however
 * far the beginning came.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { RawError } from '../../src/testing/index.ts';
import type { Fault, Scene, Stage } from '../fault.ts';

/** Notes what ends a step. Steps end in reverse order, each of them whatever becomes of the others. */
export type Undo = (act: () => unknown) => void;

interface FaultDefinition extends Omit<Fault, 'start' | 'stop'> {
  begin(scene: Scene, undo: Undo): Promise<void>;
}

/** A connection that broke, or a process that ended while it was being stopped. */
function isServerGone(error: unknown): boolean {
  const { code, message } = error as NodeJS.ErrnoException;
  const isGone = /^(ECONNRESET|ECONNREFUSED|EPIPE|ESRCH|ENOENT)$/.test(code ?? '');
  return isGone || message === 'The connection was closed';
}

/** A fault that runs on several stages at once, or twice on one, keeps them apart. */
export function defineFault({ begin, ...fault }: FaultDefinition): Fault {
  const running = new WeakMap<Stage, (() => unknown)[][]>();
  return {
    ...fault,
    async start(scene) {
      const steps: (() => unknown)[] = [];
      running.set(scene.stage, [...(running.get(scene.stage) ?? []), steps]);
      try {
        await begin(scene, (act) => steps.push(act));
      } catch (error) {
        // Another fault has killed the server in the middle of it, or has it refuse what this one asks for.
        if (!(error instanceof RawError) && !isServerGone(error)) throw error;
      }
    },
    async stop({ stage }) {
      const [oldest = [], ...others] = running.get(stage) ?? [];
      running.set(stage, others);
      for (const act of oldest.reverse()) {
        try {
          await act();
        } catch {
          // What does not end by itself, such as a setting of a server that is dead now, is healed by the stage.
        }
      }
    },
  };
}

/** Does something again and again until the fault ends, with these pauses. What fails is tried at the next turn. */
export function repeatedly(undo: Undo, pauseMs: () => number, act: () => unknown): void {
  const over = new AbortController();
  const { signal } = over;
  const loop = async () => {
    while (!signal.aborted) {
      try {
        await act();
      } catch {
        // The server may be away.
      }
      await sleep(pauseMs(), undefined, { signal }).catch(() => undefined);
    }
  };
  const looping = loop();
  undo(async () => {
    over.abort();
    await looping;
  });
}

/** The fault does not end before this moment of the monotonic clock. */
export function notBefore(undo: Undo, at: number): void {
  undo(() => sleep(Math.max(0, at - performance.now())));
}
