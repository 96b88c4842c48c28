/** Rows of the fault matrix that workers bring about by what they call; the nemesis can only make them worse. */

/** What the workloads have to do, by row. */
export const ROWS_OF_WORKLOADS: ReadonlyMap<number, string> = new Map([
  [6, 'many processes and worker threads at once; the owners that they record all differ'],
  [7, 'work that outlives its section, and siblings in Promise.all that want the same lock'],
  [22, 'invalid leases, and a name whose key already has another type'],
  [38, 'a process whose only task is a call that waits, beside a server that is stopped or silent'],
  [39, 'a client whose user has opened MULTI, and sends EXEC later'],
]);
