/**
 * The result of one look at the server.
 */
export interface Check {
  /** What was looked at. */
  readonly about: string;
  readonly status: 'ok' | 'warning' | 'error';
  readonly message: string;
  /** The code of the warning or error, if it has one. */
  readonly code?: string;
  /** What to do; left out where all is well. */
  readonly remedy?: string;
}
