/** Loads the server's code only for commands that need it: without it a command starts in a third of the time. */
export const loadApp = () => import("../app.ts");

/**
 * Like `loadApp`, for a process that works on a data folder: files that it creates from now on are private to its user.
 */
export function loadAppForData() {
  process.umask(0o077);
  return loadApp();
}
