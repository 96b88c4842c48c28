/**
 * Starts a server process, speaks to it, tells where it is, and then has nothing more to do
 * unless told to stay.
 */
import { startServer } from '../../../src/testing/index.ts';
import { onOrder, tell } from '../in-child.ts';

const server = await startServer();
const answer = await server.command('PING');
tell({ answer, serverPid: server.pid, dir: server.dir });
if (process.argv[2] === 'stay') onOrder(() => {});
