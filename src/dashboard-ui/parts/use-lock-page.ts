/** A lock's page as the server tells it, asked for again whenever the lock changes. */
import { useEffect, useState } from 'preact/hooks';
import type { LockPage, LockRow } from '../../dashboard/protocol.ts';
import { fetchLock } from '../state/api.ts';
import { isLive } from '../state/store.ts';

export interface KnownPage {
  readonly page: LockPage | null;
  readonly error: string | null;
}

/** A lock that changes all the time is asked for once in this while. */
const PAUSE_MS = 500;

export function useLockPage(key: string, row: LockRow | undefined): KnownPage {
  const [known, setKnown] = useState<KnownPage>({ page: null, error: null });
  const isConnected = isLive.value;
  const isFirst = known.page === null;

  useEffect(() => {
    if (!isConnected) return;
    const asked = new AbortController();
    const ask = async () => {
      try {
        setKnown({ page: await fetchLock(key, asked.signal), error: null });
      } catch (error) {
        if (!asked.signal.aborted)
          setKnown(({ page }) => ({ page, error: error instanceof Error ? error.message : String(error) }));
      }
    };
    const timer = setTimeout(() => void ask(), isFirst ? 0 : PAUSE_MS);
    return () => {
      clearTimeout(timer);
      asked.abort();
    };
  }, [key, row, isConnected]);

  return known;
}
