/** How long ago something was; it grows once a second. */
import { serverNow } from '../state/store.ts';
import { formatDuration, formatMoment } from '../view/format.ts';

export function Age({ since, isSeen = false }: { since: number; isSeen?: boolean }) {
  const text = formatDuration(serverNow.value - since);
  const begin = formatMoment(since);
  return (
    <time
      class="age figure"
      dateTime={new Date(since).toISOString()}
      title={isSeen ? `At least: the dashboard saw it first on ${begin}` : `Since ${begin}`}
    >
      {isSeen ? `≥ ${text}` : text}
    </time>
  );
}
