/**
 * `holdfast/dashboard`: a page about the locks of a client, to be mounted in an application.
 */
export { createDashboard, type Dashboard } from './dashboard.ts';
export type { NodeRequest } from './http/node-adapter.ts';
export type { Authorisation, DashboardOptions } from './options.ts';
export type { AuditEntry } from './protocol.ts';
