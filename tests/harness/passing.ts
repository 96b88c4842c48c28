/**
 * Whether clients pass locks on when they are not told: some projects turn that off, for the process of their tests and
 * for its children.
 */
import { Holdfast } from '../../src/index.ts';

/** `off` in a process whose clients pass no lock on; its children inherit it. */
const VARIABLE = 'HOLDFAST_TEST_PASSING';

export function turnPassingOff(): void {
  const { connect, from } = Holdfast;
  process.env[VARIABLE] = 'off';
  Holdfast.connect = (target, options) => connect.call(Holdfast, target, { passOn: false, ...options });
  Holdfast.from = (client, options) => from.call(Holdfast, client, { passOn: false, ...options });
}

/** A child does as the process that started it. */
export function inheritPassing(): void {
  if (process.env[VARIABLE] === 'off') turnPassingOff();
}
