/**
 * Checks the model of the protocol: the right one keeps every promise in every configuration, each known mistake breaks
 * the promise that it should, and the situations that matter are reached.
 *
 *   npx tsx chaos/model/run.ts              everything
 *   npx tsx chaos/model/run.ts --quick      without the large configurations
 *   npx tsx chaos/model/run.ts NO_MARKER    what is called that, with the run that shows it
 */
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import {
  CONFIGURATIONS,
  type Configuration,
  configurationOf,
  MISTAKES,
  type Mistake,
  PROPERTIES,
  SITUATIONS,
  type Situation,
} from './configurations.ts';
import { findSpin, type Search, search } from './spin.ts';

export interface Outcome {
  readonly kind: 'configuration' | 'mistake' | 'situation';
  readonly name: string;
  readonly states: number;
  readonly seconds: number;
  readonly result: string;
  /** Whether the result is the one that the list promises. */
  readonly isExpected: boolean;
  /** The run that shows a mistake, a situation, or what is broken. */
  readonly trail: readonly string[];
}

export interface ModelRun {
  /** Quick leaves out the large configurations. */
  readonly scale: 'quick' | 'full';
  /** What to search, by name; everything when it is empty. */
  readonly only?: readonly string[];
  say(text: string): void;
}

function describe({ errors, broken, isExhaustive }: Search): string {
  if (errors === 0) return isExhaustive ? 'holds' : 'not all states were visited';
  if (broken === undefined) return 'broken, and no property says what';
  return broken === 'situation' ? 'reached' : `broken: ${PROPERTIES[broken]}`;
}

/** The right protocol: every state is visited, and no promise is broken. */
export async function checkConfiguration(
  spin: string,
  { name, definitions, within, states }: Configuration,
): Promise<Outcome> {
  const found = await search(spin, [...definitions, `WITHIN=${within}`], 'all');
  const isExpected = found.errors === 0 && found.isExhaustive && found.states === states;
  return { ...found, kind: 'configuration', name, result: describe(found), isExpected };
}

/** What keeps waiters out for three times the bound does not merely delay them. */
const PATIENCE = 3;

/** A mistake: the promise that it should break is broken, and a run shows how. */
export async function checkMistake(spin: string, { name, configuration, breaks }: Mistake): Promise<Outcome> {
  const { definitions, within } = configurationOf(configuration);
  const way = breaks === 'time' ? 'cycle' : 'shortest';
  const found = await search(spin, [...definitions, `WITHIN=${PATIENCE * within}`, name], way);
  const isExpected = found.broken === breaks && found.trail.length > 0;
  const result = found.errors === 0 ? 'NOT FOUND' : describe(found);
  return { ...found, kind: 'mistake', name, result, isExpected };
}

/** A situation: the right protocol gets there. */
export async function checkSituation(spin: string, { name, configuration }: Situation): Promise<Outcome> {
  const { definitions, within } = configurationOf(configuration);
  const found = await search(spin, [...definitions, `WITHIN=${within}`, `SEE=${name}`], 'shortest');
  const isExpected = found.broken === 'situation' && found.trail.length > 0;
  const result = found.errors === 0 ? 'NOT REACHED' : describe(found);
  return { ...found, kind: 'situation', name, result, isExpected };
}

/** A search needs a core, and up to 2 GB. */
const AT_A_TIME = 2;

/** Checks everything that the lists name, two at a time. The caller looks for outcomes that are not expected. */
export async function checkModel({ scale, only = [], say }: ModelRun): Promise<readonly Outcome[]> {
  const spin = await findSpin();
  const configurations: readonly Configuration[] = CONFIGURATIONS;
  const isAsked = (name: string) => only.length === 0 || only.includes(name);
  const asked = [
    ...configurations
      .filter(({ name, size }) => isAsked(name) && (scale === 'full' || size === 'small'))
      .map((each) => ({ ...each, check: () => checkConfiguration(spin, each) })),
    ...MISTAKES.filter(({ name }) => isAsked(name)).map((each) => ({
      ...each,
      check: () => checkMistake(spin, each),
    })),
    ...SITUATIONS.filter(({ name }) => isAsked(name)).map((each) => ({
      ...each,
      check: () => checkSituation(spin, each),
    })),
  ];
  const outcomes: Outcome[] = [];
  let next = 0;
  const checkInTurn = async () => {
    for (let at = next++; at < asked.length; at = next++) {
      const { name, what, check } = asked[at] as (typeof asked)[number];
      say(`model ${at + 1}/${asked.length}: ${name}: ${what} …`);
      outcomes[at] = await check();
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, checkInTurn));
  return outcomes;
}

/** The outcomes as a table for a terminal. */
export function tableOf(outcomes: readonly Outcome[]): string {
  const rows = [
    ['', 'states', 'seconds', 'result'],
    ...outcomes.map(({ name, states, seconds, result, isExpected }) => [
      name,
      states.toLocaleString('en'),
      seconds.toFixed(1),
      isExpected ? result : `${result}  <- NOT EXPECTED`,
    ]),
  ];
  const widthOf = (column: number) => Math.max(...rows.map((row) => row[column]?.length ?? 0));
  const [first, second, third] = [widthOf(0), widthOf(1), widthOf(2)];
  return rows
    .map(([name = '', states = '', seconds = '', result = '']) =>
      [name.padEnd(first), states.padStart(second), seconds.padStart(third), result].join('  '),
    )
    .join('\n');
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: { quick: { type: 'boolean', default: false } },
    allowPositionals: true,
  });
  const names = [...CONFIGURATIONS, ...MISTAKES, ...SITUATIONS].map(({ name }) => name);
  const unknown = positionals.filter((name) => !names.some((known) => known === name));
  if (unknown.length > 0)
    throw new Error(`Not in the model: ${unknown.join(', ')}. The names are ${names.join(', ')}`);
  const outcomes = await checkModel({
    scale: values.quick ? 'quick' : 'full',
    only: positionals,
    say: (text) => console.error(text),
  });
  for (const { name, trail, isExpected, kind } of outcomes) {
    const isAsked = positionals.includes(name) || (kind === 'configuration' && !isExpected);
    if (isAsked && trail.length > 0) console.log([`${name}:`, ...trail].join('\n  '), '\n');
  }
  console.log(tableOf(outcomes));
  if (outcomes.some(({ isExpected }) => !isExpected)) process.exitCode = 1;
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  await main().catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  });
}
