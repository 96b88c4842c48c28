/** Builds the dashboard's page into `dist/dashboard-ui`. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildPage } from './dashboard-page.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

await buildPage(join(root, 'dist', 'dashboard-ui'));
