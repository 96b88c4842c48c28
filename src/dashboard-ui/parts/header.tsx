/** Which server this is, and whether it is well. */
import { switchTheme, theme } from '../state/preferences.ts';
import { connection, health, title } from '../state/store.ts';
import { formatLatency } from '../view/format.ts';
import { follow } from '../view/navigation.ts';
import { PLAIN_VIEW } from '../view/view.ts';
import { isHelpOpen } from './help-dialog.tsx';
import { Icon } from './icon.tsx';
import { Name } from './name.tsx';

export function Header() {
  return (
    <header class="header">
      <h1>
        <a href="?" onClick={(event) => follow(event, PLAIN_VIEW)}>
          <Icon name="lock" />
          <Name text={title.value} />
        </a>
      </h1>
      <Status />
      <div class="tools">
        <button
          type="button"
          class="icon-button"
          aria-label={theme.value === 'dark' ? 'Light colours' : 'Dark colours'}
          onClick={switchTheme}
        >
          <Icon name={theme.value === 'dark' ? 'sun' : 'moon'} />
        </button>
        <button
          type="button"
          class="icon-button"
          aria-label="Keyboard shortcuts"
          onClick={() => {
            isHelpOpen.value = true;
          }}
        >
          <Icon name="help" />
        </button>
      </div>
    </header>
  );
}

const STATUS_WORDS = { ok: 'Healthy', degraded: 'Degraded', down: 'Down' };

function Status() {
  if (connection.value === 'connecting') return <p class="server quiet">Connecting …</p>;
  if (health.value === null) return <p class="server quiet">The server has not been looked at yet</p>;
  const { status, server, topology, latencyMs } = health.value;
  return (
    <p class="server">
      <span class={`status is-${status}`}>{STATUS_WORDS[status]}</span>
      <span>
        <Name text={server} />
      </span>
      <span>{topology}</span>
      {latencyMs !== null && <span class="figure">{formatLatency(latencyMs)}</span>}
    </p>
  );
}
