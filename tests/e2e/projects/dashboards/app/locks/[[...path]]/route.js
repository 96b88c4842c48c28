import { Holdfast } from 'holdfast';
import { createDashboard } from 'holdfast/dashboard';

let dashboard;

async function open() {
  const client = await Holdfast.connect(process.env.REDIS_URL);
  return createDashboard(client, { token: process.env.DASHBOARD_TOKEN, allowFree: true, audit: () => {} });
}

/** `next build` loads this file, so it connects at the first request. */
async function answer(request) {
  dashboard ??= open();
  return (await dashboard).fetch(request);
}

export { answer as GET, answer as POST };
