/** Otherwise `/locks/` leads to `/locks`, and the dashboard leads back. */
// biome-ignore lint/style/noDefaultExport: Next.js reads the default export.
export default { skipTrailingSlashRedirect: true };
