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

/** An identifier, perhaps qualified. What goes into SQL text unquoted must not come from outside. */
const COLUMN = /^[A-Za-z_]\w*(\.[A-Za-z_]\w*)?$/;
/** A placeholder of the usual drivers: `$3`, `?`, `?3`, `:token`, `@token`. */
const PARAMETER = /^(\$\d+|\?\d*|[:@$][A-Za-z_]\w*)$/;

/**
 * The fragments for a row that has a column for the last token (an integer of 64 bits, or NULL at first).
 * An UPDATE that changes no row was refused, or the row is not there.
 *
 * Who is going to write what it makes of the row's old values first makes an UPDATE that sets nothing but the
 * token, then reads: from then on older tokens are refused.
 *
 * @param parameter where the statement expects the token; a bare `?` stands twice and is bound twice
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
  // What is set is named without its table, in every dialect.
  const own = column.slice(column.indexOf('.') + 1);
  return {
    set: `${own} = ${parameter}`,
    where: `(${column} IS NULL OR ${column} <= ${parameter})`,
  };
}
