/** Child processes of tests. What a child is and how it talks is in `child-process.ts`. */
import { onTestFinished } from 'vitest';
import { type ChildOptions, startChild, type TestChild } from './child-process.ts';

/** Starts a script; call it inside a test, at whose end the child is killed. */
export function spawnChild(scriptPath: string, options: ChildOptions = {}): TestChild {
  const child = startChild(scriptPath, options);
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await child.exited;
  });
  return child;
}
