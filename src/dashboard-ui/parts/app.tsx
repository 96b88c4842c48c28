/** The whole page: the overview, or one lock. */
import { useLayoutEffect } from 'preact/hooks';
import { isLive, title } from '../state/store.ts';
import { view } from '../view/navigation.ts';
import { visibleText } from '../view/visible-text.ts';
import { ConnectionBanner } from './connection-banner.tsx';
import { FreeDialog } from './free-dialog.tsx';
import { Header } from './header.tsx';
import { HelpDialog } from './help-dialog.tsx';
import { LockView } from './lock-view.tsx';
import { Overview } from './overview.tsx';
import { useKeyboard } from './use-keyboard.ts';
import { useScrollMemory } from './use-scroll-memory.ts';

export function App() {
  const { lock } = view.value;
  useKeyboard();
  useScrollMemory(lock !== null);
  useLayoutEffect(() => {
    document.title = lock === null ? title.value : `${visibleText(lock)} – ${title.value}`;
  });
  return (
    <div class={isLive.value ? 'page' : 'page is-stale'}>
      <Header />
      <ConnectionBanner />
      <main>{lock === null ? <Overview /> : <LockView key={lock} name={lock} />}</main>
      <FreeDialog />
      <HelpDialog />
    </div>
  );
}
