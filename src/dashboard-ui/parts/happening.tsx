/** Something that happened, in the timeline or in the history of a lock. */
import type { Happening } from '../../dashboard/protocol.ts';
import { formatMoment, formatTime } from '../view/format.ts';
import { addressOf, follow } from '../view/navigation.ts';
import { Name } from './name.tsx';

interface Word {
  readonly word: string;
  /** How much it concerns an operator. */
  readonly weight: 'plain' | 'warning' | 'bad';
}

const WORDS: Readonly<Record<Happening['what'], Word>> = {
  taken: { word: 'Taken', weight: 'plain' },
  released: { word: 'Released', weight: 'plain' },
  gone: { word: 'Gone', weight: 'warning' },
  freed: { word: 'Freed by force', weight: 'warning' },
  atRisk: { word: 'At risk', weight: 'warning' },
  stalled: { word: 'Stalled', weight: 'warning' },
  warning: { word: 'Warning', weight: 'warning' },
  error: { word: 'Error', weight: 'bad' },
  lost: { word: 'Lost', weight: 'bad' },
};

const SOURCES: Readonly<Record<Happening['source'], string>> = {
  events: 'told by a client of the dashboard’s process',
  sampling: 'seen by sampling the server',
};

export function HappeningLine({ happening, isNamed = false }: { happening: Happening; isNamed?: boolean }) {
  const { at, what, key, who, text, source } = happening;
  const { word, weight } = WORDS[what];
  return (
    <li class={`happening is-${weight}`}>
      <time class="figure" dateTime={new Date(at).toISOString()} title={formatMoment(at)}>
        {formatTime(at)}
      </time>
      <div>
        <p class="what">
          <strong title={SOURCES[source]}>{word}</strong>
          {isNamed && key !== null && (
            <a href={addressOf({ lock: key })} onClick={(event) => follow(event, { lock: key })}>
              <Name text={key} />
            </a>
          )}
          {who !== null && (
            <span class="who">
              <Name text={who} />
            </span>
          )}
        </p>
        {text !== '' && <p class="text">{text}</p>}
      </div>
    </li>
  );
}
