/**
 * What is left of a lease, as a bar that runs down. The browser moves it without the page's help; a renewal makes it
 * start again from where the lease is now.
 */
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { RowHolder } from '../../dashboard/protocol.ts';
import { prefersStillness } from '../state/preferences.ts';
import { isLive, preciseServerNow, serverNow } from '../state/store.ts';
import { formatDuration } from '../view/format.ts';

/** A lease with less than this share left was not renewed when it should have been. */
const LOW_SHARE = 0.25;

export function LeaseBar({ holder: { endsAt, leaseMs } }: { holder: RowHolder }) {
  if (endsAt === null || leaseMs === null) return <span class="quiet">no expiry</span>;
  return <RunningBar endsAt={endsAt} leaseMs={leaseMs} />;
}

function RunningBar({ endsAt, leaseMs }: { endsAt: number; leaseMs: number }) {
  const fill = useRef<HTMLSpanElement>(null);
  const isMoving = isLive.value && !prefersStillness.value;
  const leftMs = Math.max(0, endsAt - serverNow.value);
  const share = Math.min(1, leftMs / leaseMs);

  useLayoutEffect(() => {
    if (fill.current === null || !isMoving) return;
    const restMs = Math.max(0, endsAt - preciseServerNow());
    const from = Math.min(1, restMs / leaseMs);
    const running = fill.current.animate([{ transform: `scaleX(${from})` }, { transform: 'scaleX(0)' }], {
      duration: restMs,
      fill: 'forwards',
    });
    return () => running.cancel();
  }, [endsAt, leaseMs, isMoving]);

  return (
    <span class={`lease ${share < LOW_SHARE ? 'is-low' : ''}`}>
      <span class="bar" aria-hidden="true">
        <span class="fill" ref={fill} style={{ transform: `scaleX(${share})` }} />
      </span>
      <span class="left figure">{formatDuration(leftMs)}</span>
    </span>
  );
}
