/** Search, filters and order of the list. All of it is in the address bar. */
import { createRef } from 'preact';
import { useId, useRef } from 'preact/hooks';
import { isNarrow } from '../state/preferences.ts';
import { isListed, rows, selected } from '../state/store.ts';
import { formatNumber } from '../view/format.ts';
import { go, view } from '../view/navigation.ts';
import { holderName } from '../view/select.ts';
import { isFiltered, KINDS, type Kind, PLAIN_VIEW, SORTS, type Sort, type View } from '../view/view.ts';
import { Icon } from './icon.tsx';

export const searchField = createRef<HTMLInputElement>();

/** So many holders are offered; any other can be typed. */
const MOST_OFFERED = 50;

export function Toolbar() {
  const { kind, state, sort, isDescending } = view.value;
  return (
    <search class="toolbar">
      <div class="search">
        <Icon name="search" />
        <TextFilter
          field={searchField}
          name="search"
          label="Search by name"
          placeholder={isNarrow.value ? 'Search by name' : 'Search by name  ( / )'}
        />
      </div>
      <Choice
        label="Kind"
        value={kind ?? ''}
        options={[['', 'All kinds'], ...Object.entries(KINDS).filter(([name]) => name !== 'free')]}
        choose={(value) => go({ kind: value === '' ? null : (value as Kind) })}
      />
      <Choice
        label="State"
        value={state ?? ''}
        options={[
          ['', 'Held or not'],
          ['held', 'Held'],
          ['waiting', 'With waiters'],
        ]}
        choose={(value) => go({ state: value === '' ? null : (value as 'held' | 'waiting') })}
      />
      <HolderFilter />
      <div class="order">
        <Choice
          label="Sort by"
          isPlain
          value={`${isDescending ? '-' : ''}${sort}`}
          options={SORTS.flatMap((name): [string, string][] => [
            [name, `By ${name}`],
            [`-${name}`, `By ${name}, reversed`],
          ])}
          choose={(value) =>
            go({ sort: value.replace(/^-/, '') as Sort, isDescending: value.startsWith('-') })
          }
        />
      </div>
      <Outcome />
    </search>
  );
}

/** How many locks that leaves, and the way back to all. */
function Outcome() {
  const { sort, isDescending } = view.value;
  const isPart = isFiltered(view.value);
  return (
    <div class={isPart ? 'outcome is-part' : 'outcome'}>
      <p class="count quiet figure" role="status">
        {words()}
      </p>
      {isPart && (
        <button type="button" class="plain" onClick={() => go({ ...PLAIN_VIEW, sort, isDescending })}>
          Clear
        </button>
      )}
    </div>
  );
}

function words(): string {
  if (!isListed.value) return 'Looking …';
  const all = rows.value.size;
  const shown = selected.value.length;
  return shown === all ? formatNumber(all) : `${formatNumber(shown)} of ${formatNumber(all)}`;
}

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly options: readonly (readonly [value: string, text: string])[];
  readonly choose: (value: string) => void;
  /** Whether it leaves nothing out, whatever is chosen. */
  readonly isPlain?: boolean;
}

function Choice({ label, value, options, choose, isPlain = false }: ChoiceProps) {
  return (
    <select
      aria-label={label}
      class={value === '' || isPlain ? '' : 'is-set'}
      value={value}
      onChange={({ currentTarget }) => choose(currentTarget.value)}
    >
      {options.map(([name, text]) => (
        <option key={name} value={name}>
          {text}
        </option>
      ))}
    </select>
  );
}

function HolderFilter() {
  const id = useId();
  const names = new Set<string>();
  for (const { holders } of rows.value.values()) {
    for (const holder of holders) {
      if (holder.label !== null && names.size < MOST_OFFERED) names.add(holderName(holder));
    }
  }
  return (
    <>
      <TextFilter name="holder" placeholder="Any holder" label="Holder" list={id} />
      <datalist id={id}>
        {[...names].sort().map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </>
  );
}

interface TextFilterProps {
  readonly name: 'search' | 'holder';
  readonly placeholder: string;
  readonly label: string;
  readonly list?: string;
  readonly field?: { current: HTMLInputElement | null };
}

/** A field whose letters are one step for the back button. */
function TextFilter({ name, placeholder, label, list, field }: TextFilterProps) {
  const hasBegun = useRef(false);
  const value = view.value[name];
  return (
    <input
      {...(field === undefined ? {} : { ref: field })}
      type="search"
      class={value === '' ? '' : 'is-set'}
      aria-label={label}
      list={list}
      placeholder={placeholder}
      autocomplete="off"
      spellcheck={false}
      value={value}
      onInput={({ currentTarget }) => {
        go({ [name]: currentTarget.value } as Partial<View>, { isSameStep: hasBegun.current });
        hasBegun.current = true;
      }}
      onBlur={() => {
        hasBegun.current = false;
      }}
      onKeyDown={(event) => {
        if (event.key === 'Escape') event.currentTarget.blur();
      }}
    />
  );
}
