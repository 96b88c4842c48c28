/**
 * A fence for rows of a SQL database: two fragments for an UPDATE that only the newest token can make.
 */
import { OptionError } from '../errors.ts';

/** The two fragments, for one UPDATE. */
export interface SqlFence {
  /** For the SET list: writes the token into the row. */
  readonly set: string;
  /** For the WHERE clause: no newer token has written the row. */
  readonly where: string;
}

/** An identifier, perhaps qualified. It goes into SQL text unquoted and must not come from outside. */
const COLUMN = /^[A-Za-z_]\w*(\.[A-Za-z_]\w*)?$/;
/** A placeholder of the usual drivers: `$3`, `?`, `?3`, `:token`, `@token`. */
const PARAMETER = /^(\$\d+|\?\d*|[:@$][A-Za-z_]\w*)$/;

/**
 * The fragments for a row with a column for the last token (a 64-bit integer, NULL at first). If the UPDATE
 * changes no row, the fence has refused it, or the row does not exist.
 *
 * If the new values depend on the old ones, first run an UPDATE that sets only the token, then read: from then
 * on the row refuses older tokens.
 *
 * @param parameter the placeholder of the token; a bare `?` appears twice and must be bound twice
 * @param column    may be qualified where the name alone would be ambiguous, as in an upsert
 *
 * @example
 * ```ts
 * const fence = sqlFence('$3');
 * const statement = `UPDATE account SET balance = $1, ${fence.set} WHERE id = $2 AND ${fence.where}`;
 * console.log(statement);
 * ```
 *
 * @throws OptionError
 */
export function sqlFence(parameter: string, column = 'fence_token'): SqlFence {
  if (typeof parameter !== 'string' || !PARAMETER.test(parameter)) {
    throw new OptionError('The parameter must be a placeholder such as $3, ?, ?3, :token or @token');
  }
  if (typeof column !== 'string' || !COLUMN.test(column)) {
    throw new OptionError('The column must be a plain SQL identifier');
  }
  // Every dialect names a column in the SET list without its table.
  const own = column.slice(column.indexOf('.') + 1);
  return {
    set: `${own} = ${parameter}`,
    where: `(${column} IS NULL OR ${column} <= ${parameter})`,
  };
}
