/** How damage to the database shows, and what to do about it. */
import { codeOf, Problem } from "../core/errors.ts";

export const RESTORE =
  "Restore a copy (of the data folder's backups, or your own). To start over, move the data folder aside.";

/**
 * Whether a stored value is not valid JSON although it was written as JSON. The database's pages have no checksums, so
 * damage inside a value only shows when it is read. Input from outside is parsed elsewhere, and refused there.
 */
export const isGarbled = (error: unknown): boolean =>
  error instanceof SyntaxError && error.message.startsWith("JSON Parse error");

const STORAGE = /^(SQLITE_(CORRUPT|NOTADB|FULL|IOERR|READONLY|CANTOPEN|PERM|NOMEM)\w*|ENOSPC|EDQUOT|EROFS|EIO)$/;

/** Whether the data folder or its disk failed. That concerns the whole server, not only the part that noticed it. */
export const isStorageFailure = (error: unknown): boolean => isGarbled(error) || STORAGE.test(codeOf(error) ?? "");

/** @returns the problem that a start reports when the error means damage; other errors unchanged. */
export const asDamage = (error: unknown): unknown =>
  isGarbled(error) ? new Problem(503, "database_damaged", `The database skep.db is damaged. ${RESTORE}`) : error;
