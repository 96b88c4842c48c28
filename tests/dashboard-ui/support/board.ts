/** A dashboard with a server of its own, mounted below a path of an HTTP server as an application would do it. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inject, onTestFinished } from 'vitest';
import { type Dashboard, makeDashboard } from '../../../src/dashboard/dashboard.ts';
import { PageFiles } from '../../../src/dashboard/http/page-files.ts';
import type { DashboardOptions } from '../../../src/dashboard/options.ts';
import { type ClientOptions, Holdfast } from '../../../src/index.ts';
import { RawConnection } from '../../../src/testing/index.ts';
import { ownServer } from '../../harness/servers.ts';

/** Not the root, so that an address that is not relative is noticed. */
const MOUNT = '/ops/locks/';

export interface Board {
  /** The address of the page. */
  readonly url: string;
  readonly redisUrl: string;
  /** The client whose process the dashboard runs in. */
  readonly client: Holdfast;
  /** A connection that writes keys as it likes. */
  readonly raw: RawConnection;
  /** Ends the HTTP server with all its connections, as a crash of the application would. */
  stop(): Promise<void>;
  /** Serves another dashboard at the same address. */
  start(options?: DashboardOptions): Promise<void>;
}

export async function openBoard(
  options: DashboardOptions = { unprotected: true },
  clientOptions: ClientOptions = {},
): Promise<Board> {
  const redis = await ownServer();
  const client = await Holdfast.connect(redis.url, clientOptions);
  const raw = await RawConnection.connect(redis.host, redis.port);
  const page = new PageFiles(inject('dashboardPage'));
  let served: { http: Server; dashboard: Dashboard } | undefined;
  let port = 0;

  async function start(wanted: DashboardOptions = options): Promise<void> {
    const dashboard = makeDashboard(client, wanted, { page });
    const http = createServer((request, response) => {
      if (request.url?.startsWith(MOUNT) === true) dashboard.node(request, response);
      else response.writeHead(404).end();
    });
    served = { http, dashboard };
    http.listen(port, '127.0.0.1');
    await once(http, 'listening');
    ({ port } = http.address() as AddressInfo);
  }
  async function stop(): Promise<void> {
    const ended = served;
    served = undefined;
    if (ended === undefined) return;
    ended.dashboard.close();
    const closed = once(ended.http, 'close');
    ended.http.close();
    ended.http.closeAllConnections();
    await closed;
  }

  onTestFinished(async () => {
    await stop();
    await raw.close();
    await client.close();
  });
  await start();
  return { url: `http://127.0.0.1:${port}${MOUNT}`, redisUrl: redis.url, client, raw, start, stop };
}
