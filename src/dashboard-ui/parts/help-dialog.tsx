/** The keys of the page. */
import { signal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';

export const isHelpOpen = signal(false);

const KEYS: readonly (readonly [keys: readonly string[], meaning: string])[] = [
  [['/'], 'Search'],
  [['j', '↓'], 'Next lock'],
  [['k', '↑'], 'Previous lock'],
  [['Page Down', 'Page Up'], 'A screen further or back, in the list'],
  [['Home', 'End'], 'First and last lock, in the list'],
  [['Enter'], 'Open the lock'],
  [['Esc'], 'Back to all locks; close'],
  [['?'], 'This help'],
];

export function HelpDialog() {
  return isHelpOpen.value ? <Help /> : null;
}

function Help() {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog
      ref={dialog}
      aria-labelledby="help-title"
      onClose={() => {
        isHelpOpen.value = false;
      }}
    >
      <h2 id="help-title">Keyboard</h2>
      <dl class="facts keys">
        {KEYS.map(([keys, meaning]) => (
          <>
            <dt key={meaning}>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{meaning}</dd>
          </>
        ))}
      </dl>
      <div class="actions">
        <button type="button" class="plain" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </div>
    </dialog>
  );
}
