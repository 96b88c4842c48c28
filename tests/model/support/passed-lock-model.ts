/**
 * A plain model of tasks of two clients on one lock: who waits in which client's line, who is inside how often, and
 * which owner field each tenure had. Asking the real lock, and comparing, is left to `passed-lock.test.ts`.
 */
import { expect } from 'vitest';

export interface Task {
  readonly id: string;
  readonly client: number;
  /** With an owner of its own it can enter again. */
  readonly isNamed: boolean;
}

/** One owner field, and the tasks that had the lock by it. */
interface Tenure {
  readonly field: string;
  readonly client: number;
  holders: number;
}

export class PassedLockModel {
  readonly lines: readonly [Task[], Task[]] = [[], []];
  inside: { readonly task: Task; entries: number; readonly field: string } | undefined;
  /** How often a task got the lock by the field of the one before it. */
  passed = 0;
  readonly #maxHolders: number;
  #last: Tenure | undefined;
  readonly #fields = new Set<string>();

  /** @param maxHolders how many tasks may have a tenure in turn; 1 where the lock is not passed on */
  constructor(maxHolders: number) {
    this.#maxHolders = maxHolders;
  }

  get waiting(): readonly Task[] {
    return this.lines.flat();
  }

  isIdle(task: Task): boolean {
    return this.inside?.task !== task && !this.waiting.includes(task);
  }

  waits(task: Task): void {
    this.#lineOf(task).push(task);
  }

  /** The task has got the lock by that field. */
  enters(task: Task, field: string): void {
    expect(this.inside, `${task.id} enters while another task is inside`).toBeUndefined();
    const line = this.#lineOf(task);
    expect(task, 'the first in line enters').toBe(line.shift());
    this.inside = { task, entries: 1, field };
    const last = this.#last;
    if (last?.field === field) {
      expect(last.client, 'another client').toBe(task.client);
      last.holders += 1;
      expect(last.holders).toBeLessThanOrEqual(this.#maxHolders);
      this.passed += 1;
      return;
    }
    expect(this.#fields, 'a tenure that was over').not.toContain(field);
    this.#fields.add(field);
    this.#last = { field, client: task.client, holders: 1 };
  }

  givesUp(task: Task): void {
    const line = this.#lineOf(task);
    line.splice(line.indexOf(task), 1);
  }

  /** The task inside leaves once. */
  leaves(): void {
    const inside = this.inside as NonNullable<typeof this.inside>;
    inside.entries -= 1;
    if (inside.entries === 0) this.inside = undefined;
  }

  #lineOf({ client }: Task): Task[] {
    return this.lines[client] as Task[];
  }
}
