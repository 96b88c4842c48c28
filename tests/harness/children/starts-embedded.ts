/** Starts an embedded server, tells where, and then has nothing more to do unless told to stay. */
import { startEmbeddedServer } from '../../../src/embedded/start.ts';
import { onOrder, tell } from '../in-child.ts';

const server = await startEmbeddedServer();
tell({ url: server.url, port: server.port, serverPid: server.pid });
if (process.argv[2] === 'stay') onOrder(() => {});
