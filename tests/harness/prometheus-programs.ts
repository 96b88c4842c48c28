/** Prometheus and its tool, out of Debian's package. Nothing is installed. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { debianProgram } from './debian-package.ts';

const CACHE = join(import.meta.dirname, '../../.cache/prometheus');

/** In the name of whatever is skipped for want of it. */
export const NEEDS_PROMETHEUS = '[needs Prometheus]';

/** Whether it may be used here: on CI it is downloaded, elsewhere it must have been before. */
export function isPrometheusAtHand(): boolean {
  const { CI = '' } = process.env;
  return CI !== '' || existsSync(CACHE);
}

/** The paths of both programs. Downloads them at the first call. */
export async function prometheusPrograms(): Promise<{ prometheus: string; promtool: string }> {
  const wanted = { release: 'bookworm', program: 'prometheus', others: ['promtool'] };
  const prometheus = await debianProgram(wanted, CACHE);
  return { prometheus, promtool: join(dirname(prometheus), 'promtool') };
}
