/**
 * The dashboard and the alerts of docs/grafana against a real Prometheus, which scrapes the example of metrics: a
 * process that holds, waits, times out and loses a lock at a real server.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { RawConnection, startServer, type TestServer } from '../../src/testing/index.ts';
import { isPrometheusAtHand, NEEDS_PROMETHEUS } from '../harness/prometheus-programs.ts';
import { NEEDS_PROCESS } from '../harness/skipped.ts';
import { eventually } from '../harness/wait.ts';
import { type RunningExample, startExample } from './support/example.ts';
import { checkRules, Prometheus } from './support/prometheus.ts';

const DOCS = join(import.meta.dirname, '../../docs/grafana');
const RULES = join(DOCS, 'alerts.yml');

/** A package of some hundred megabytes may have to be downloaded. */
const START_MS = 240_000;
const WITHIN = { withinMs: 20_000, everyMs: 100 };

interface Panel {
  readonly title: string;
  readonly type: string;
  readonly targets?: readonly { readonly expr: string }[];
}

interface Dashboard {
  readonly panels: readonly Panel[];
  readonly annotations: { readonly list: readonly { readonly name: string; readonly expr: string }[] };
}

const dashboard = JSON.parse(readFileSync(join(DOCS, 'holdfast.json'), 'utf8')) as Dashboard;
const panels = dashboard.panels.filter(({ type }) => type !== 'row');

/** What Grafana puts in place of its variables when everything is chosen. */
function filledIn(expression: string): string {
  return expression
    .replaceAll('$__rate_interval', '1m')
    .replaceAll('$__range', '1h')
    .replaceAll(/\$(job|group)\b/g, '.*');
}

/** What an alert or annotation compares, without the comparison: that is empty as long as all is well. */
function compared(expression: string): string {
  const [, left] = /^(.+) > [\d.]+$/s.exec(expression) ?? [];
  if (left === undefined) throw new Error(`Not a comparison with a number: ${expression}`);
  return left;
}

const binary = inject('serverBinary');
const missing = [
  ...(binary === null ? [NEEDS_PROCESS] : []),
  ...(isPrometheusAtHand() ? [] : [NEEDS_PROMETHEUS]),
];
const title = ['Prometheus, scraping the example', ...missing].join(' ');

describe.skipIf(missing.length > 0)(title, { timeout: 60_000 }, () => {
  let server: TestServer;
  let example: RunningExample;
  let prometheus: Prometheus;

  beforeAll(async () => {
    server = await startServer(binary === null ? {} : { binary });
    example = await startExample(server.url);
    prometheus = await Prometheus.start(example.target, RULES);
  }, START_MS);

  afterAll(async () => {
    await prometheus?.close();
    const code = await example?.close();
    await server?.close();
    expect(code).toBe(0);
  });

  it('finds no mistake in the rules', async () => {
    expect(await checkRules(RULES)).toMatch(/SUCCESS: \d+ rules found/);
  });

  it.each(panels)('has data for the panel $title', async ({ targets = [] }) => {
    expect(targets.length).toBeGreaterThan(0);
    for (const { expr } of targets) {
      const samples = await eventually(async () => {
        const found = await prometheus.query(filledIn(expr));
        expect(found.filter(({ value }) => !Number.isNaN(value))).not.toEqual([]);
        return found;
      }, WITHIN);
      expect(samples.every(({ value }) => Number.isNaN(value) || value >= 0)).toBe(true);
    }
  });

  it('has data for the annotations', async () => {
    for (const { expr } of dashboard.annotations.list) {
      expect((await prometheus.query(compared(filledIn(expr)))).length).toBeGreaterThan(0);
    }
  });

  it('shows what the example does', async () => {
    const sum = async (expression: string) => (await prometheus.query(`sum(${expression})`))[0]?.value;
    await eventually(async () => {
      expect(await sum('holdfast_held{group="leader"}')).toBe(1);
      expect(await sum('holdfast_contended_total{group="order"}')).toBeGreaterThan(0);
      expect(await sum('holdfast_timeouts_total{group="leader"}')).toBeGreaterThan(0);
      expect(await sum('holdfast_hold_seconds_count{group="order",ended="released"}')).toBeGreaterThan(0);
      expect(await sum('holdfast_renewals_total{outcome="renewed"}')).toBeGreaterThan(0);
      expect(await sum('holdfast_warnings_total{code="HOLDFAST_HELD_LONG"}')).toBeGreaterThan(0);
      // The rival waits for at most 10 ms, so nothing else than the leadership grows old.
      expect(await sum('holdfast_oldest_hold_seconds{group="leader"}')).toBeGreaterThan(1);
      expect(await sum('holdfast_losses_total')).toBe(0);
    }, WITHIN);
  });

  it('has data for every alert, and no alert fires while all is well', async () => {
    const rules = await eventually(async () => {
      const found = await prometheus.rules();
      expect(found.filter(({ health }) => health !== 'ok')).toEqual([]);
      return found;
    }, WITHIN);
    const written = readFileSync(RULES, 'utf8').match(/^ +- alert: (\w+)$/gm) ?? [];
    expect(rules.map(({ name }) => `- alert: ${name}`)).toEqual(written.map((line) => line.trim()));
    for (const { query } of rules) {
      await eventually(async () => {
        const found = await prometheus.query(compared(query));
        return found.some(({ value }) => !Number.isNaN(value));
      }, WITHIN);
    }
    expect((await prometheus.alerts()).filter(({ state }) => state === 'firing')).toEqual([]);
  });

  it('fires when a hold is lost, and nothing else does', async () => {
    const connection = await RawConnection.connect(server.host, server.port);
    // The operator who deletes the key, or the eviction.
    expect(await connection.command('DEL', 'example:leader')).toBe(1);
    await connection.close();
    const firing = await eventually(async () => {
      const found = (await prometheus.alerts()).filter(({ state }) => state === 'firing');
      expect(found).not.toEqual([]);
      return found;
    }, WITHIN);
    expect(firing.map(({ labels }) => labels)).toEqual([
      {
        alertname: 'HoldfastHoldLost',
        severity: 'critical',
        job: 'worker',
        group: 'leader',
        kind: 'lock',
        reason: 'notOwner',
      },
    ]);
  });
});
