/** Says plainly that the page does not know what happens now. */
import { connection, lostAt } from '../state/store.ts';
import { connect } from '../state/stream.ts';
import { formatTime } from '../view/format.ts';

export function ConnectionBanner() {
  return (
    <div class="banner-place" role="status">
      {lostAt.value !== null && (
        <p class="banner">
          <span>{words(lostAt.value)}</span>
          <button type="button" class="plain" onClick={connect}>
            Try now
          </button>
        </p>
      )}
    </div>
  );
}

function words(at: number): string {
  const then = `What you see is from ${formatTime(at)}`;
  if (connection.value === 'refused')
    return `The dashboard does not accept this session any more. ${then}. Sign in again to go on.`;
  return `The connection to the dashboard is lost. ${then}; connecting again …`;
}
