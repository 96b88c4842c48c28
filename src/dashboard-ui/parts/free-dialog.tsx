/**
 * Freeing a holder by force. The dialog names the holder that the person saw, wants a deliberate second action, and sends
 * that holder and no other: if the lock has passed on meanwhile, nothing happens to the new holder.
 */
import { signal } from '@preact/signals';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { RowHolder } from '../../dashboard/protocol.ts';
import { freeHolder } from '../state/api.ts';
import { csrf, rows } from '../state/store.ts';
import { formatMoment } from '../view/format.ts';
import { shortOwner } from '../view/owner.ts';
import { Name } from './name.tsx';

interface Asked {
  readonly lock: string;
  readonly holder: RowHolder;
}

const asked = signal<Asked | null>(null);

export function askToFree(what: Asked): void {
  asked.value = what;
}

export function FreeDialog() {
  return asked.value === null ? null : <Question asked={asked.value} />;
}

type Step = { is: 'asking' | 'sending' } | { is: 'done'; text: string; isGood: boolean };

function Question({ asked: { lock, holder } }: { asked: Asked }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const cancel = useRef<HTMLButtonElement>(null);
  const [isSure, setSure] = useState(false);
  const [step, setStep] = useState<Step>({ is: 'asking' });
  const isGone = rows.value.get(lock)?.holders.some(({ owner }) => owner === holder.owner) !== true;
  useLayoutEffect(() => {
    dialog.current?.showModal();
    cancel.current?.focus();
  }, []);

  const free = async () => {
    if (csrf.value === null) return;
    setStep({ is: 'sending' });
    try {
      const { freed } = await freeHolder({ key: lock, owner: holder.owner }, csrf.value);
      const text = freed
        ? 'Freed. The next waiter can have it.'
        : 'It held nothing any more: nothing was freed.';
      setStep({ is: 'done', text, isGood: freed });
    } catch (error) {
      setStep({
        is: 'done',
        text: `Not freed. ${error instanceof Error ? error.message : String(error)}`,
        isGood: false,
      });
    }
  };
  return (
    <dialog
      ref={dialog}
      aria-labelledby="free-title"
      onClose={() => {
        asked.value = null;
      }}
    >
      <h2 id="free-title">
        Free <Name text={lock} /> by force?
      </h2>
      <dl class="facts">
        <Fact name="Holder" text={holder.label ?? shortOwner(holder.owner)} />
        <Fact name="Host" text={holder.host ?? 'unknown'} />
        <Fact name="Process" text={holder.pid === null ? 'unknown' : String(holder.pid)} />
        <Fact name="Owner" text={holder.owner} />
        <Fact
          name="Since"
          text={`${formatMoment(holder.since)}${holder.isSeen ? ', when the dashboard saw it first' : ''}`}
        />
      </dl>
      {step.is === 'done' ? (
        <p class={step.isGood ? 'result' : 'result is-bad'} role="status">
          {step.text}
        </p>
      ) : (
        <>
          <p>
            Only this holder is freed. It is not stopped: if it still works on what the lock protects, another
            holder works on it at the same time.
          </p>
          {isGone && <p class="result">It does not hold the lock any more.</p>}
          <label class="sure">
            <input
              type="checkbox"
              checked={isSure}
              onChange={({ currentTarget }) => setSure(currentTarget.checked)}
            />
            I know that this holder has ended, or may go on without the lock.
          </label>
        </>
      )}
      <div class="actions">
        <button type="button" class="plain" ref={cancel} onClick={() => dialog.current?.close()}>
          {step.is === 'done' ? 'Close' : 'Cancel'}
        </button>
        {step.is !== 'done' && (
          <button
            type="button"
            class="danger is-filled"
            disabled={!isSure || step.is === 'sending'}
            onClick={() => void free()}
          >
            Free this holder
          </button>
        )}
      </div>
    </dialog>
  );
}

function Fact({ name, text }: { name: string; text: string }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>
        <Name text={text} />
      </dd>
    </>
  );
}
