/** All locks, how the last hour went, and how the server is. */
import { Charts } from './charts.tsx';
import { LoadPanel } from './load-panel.tsx';
import { LockList } from './lock-list.tsx';
import { ServerPanel } from './server-panel.tsx';
import { Tiles } from './tiles.tsx';
import { Timeline } from './timeline.tsx';
import { Toolbar } from './toolbar.tsx';

export function Overview() {
  return (
    <div class="overview">
      <Tiles />
      <Charts />
      <aside class="aside" aria-label="Events and server">
        <Timeline />
        <ServerPanel />
        <LoadPanel />
      </aside>
      <section class="locks" aria-label="Locks and counters">
        <Toolbar />
        <LockList />
      </section>
    </div>
  );
}
