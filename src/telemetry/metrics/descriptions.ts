/** What each metric tells, in the words that every system of metrics shows beside it. */
export const DESCRIPTIONS = {
  wait: 'From a call that acquires to its result',
  hold: 'From a grant to the end of the hold',
  contended: 'Calls that found others holding or waiting',
  timeouts: 'Calls that ended without a grant in their time',
  losses: 'Holds that were lost, by reason',
  atRisk: 'Failed renewals of holds that are repeated',
  renewals: 'Renewal commands, by outcome',
  stalls: 'Times that a blocked event loop made renewals late',
  warnings: 'Warnings of clients, by code',
  errors: 'Failures in the background that no caller waits for',
  held: 'Holds, permits with a lease and sections of withPermit, now',
  waiting: 'Calls that acquire, now',
  oldestHold: 'The age of the oldest hold',
  oldestWait: 'The age of the oldest call that waits',
} as const;
