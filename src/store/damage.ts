/** What damage to the database looks like from inside, and what to do about it. */
import { codeOf, Problem } from "../core/errors.ts";

export const RESTORE =
  "Restore a copy (of the data folder's backups, or your own). To start over, move the data folder aside.";

/**
 * Whether a stored value is not JSON though it was written as such: the file's pages hold no checksums, so damage inside
 * a value shows when it is read. What strangers send is parsed elsewhere, and refused there.
 */
export const isGarbled = (error: unknown): boolean =>
  error instanceof SyntaxError && error.message.startsWith("JSON Parse error");

const STORAGE = /^(SQLITE_(CORRUPT|NOTADB|FULL|IOERR|READONLY|CANTOPEN|PERM|NOMEM)\w*|ENOSPC|EDQUOT|EROFS|EIO)$/;

/** Whether the data folder or its disk failed, which concerns the whole server rather than the part that noticed it. */
export const isStorageFailure = (error: unknown): boolean => isGarbled(error) || STORAGE.test(codeOf(error) ?? "");

/** @returns what a start reports for an error that means damage; any other error as it is. */
export const asDamage = (error: unknown): unknown =>
  isGarbled(error) ? new Problem(503, "database_damaged", `The database skep.db is damaged. ${RESTORE}`) : error;
