/** The four figures that say whether all is well. */
import { isListed, load, summary } from '../state/store.ts';
import { formatNumber, formatShare } from '../view/format.ts';

interface TileProps {
  readonly label: string;
  readonly value: string;
  readonly from: string;
  readonly isBad?: boolean;
}

const SAMPLED = 'sampled at the server';
const LISTENING = 'in queues or listening, sampled at the server';
const IN_QUEUES = 'in fair queues only: the server refuses PUBSUB';
const UNTOLD = 'no client of this process tells';

export function Tiles() {
  const { held, waiting, calls, contended, losses } = summary.value;
  const waitingFrom = load.value?.countsListeners === false ? IN_QUEUES : LISTENING;
  const hasCalls = calls !== null && calls > 0;
  return (
    <dl class="tiles">
      <Tile label="Held" value={isListed.value ? formatNumber(held) : '–'} from={SAMPLED} />
      <Tile label="Waiting" value={isListed.value ? formatNumber(waiting) : '–'} from={waitingFrom} />
      <Tile
        label="Contended"
        value={hasCalls ? formatShare((contended ?? 0) / calls) : '–'}
        from={calls === null ? UNTOLD : `of ${formatNumber(calls)} calls of this process, last hour`}
      />
      <Tile
        label="Losses, last hour"
        value={losses === null ? '–' : formatNumber(losses)}
        from={losses === null ? UNTOLD : 'holds of this process'}
        isBad={losses !== null && losses > 0}
      />
    </dl>
  );
}

function Tile({ label, value, from, isBad = false }: TileProps) {
  return (
    <div class={isBad ? 'tile is-bad' : 'tile'}>
      <dt>{label}</dt>
      <dd class="value figure">{value}</dd>
      <dd class="from">{from}</dd>
    </div>
  );
}
