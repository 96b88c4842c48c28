/**
 * Redisson on the JVM. Its program is in `bench/redisson`; `players/jvm.ts` builds and starts it.
 */
import type { Contestant } from './contestant.ts';

export const redisson: Contestant = {
  id: 'redisson',
  title: 'Redisson 4.7.0 (JVM)',
  kind: 'redisson',
  runtime: 'jvm',
  note: '`getLock()`, `lock()` and `unlock()` in a thread for each task, default settings, warmed up three times as long',
};
