/**
 * The database of a new instance, made once by the build: to run every migration on an empty one takes a fifth of a first
 * start. Run from the sources there is none. In the executable this module is another one, written by the build
 * (scripts/new-database.ts), that holds it.
 */

/** Bytes of a database with every migration, which were applied at no time yet; undefined: the build made none. */
export const newDatabase = (): Uint8Array | undefined => undefined;
