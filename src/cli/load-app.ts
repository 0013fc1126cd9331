/** The server's code, loaded by the commands that need it: the others start in a third of the time. */
export const loadApp = () => import("../app.ts");

/** The same for a process that works on a data folder: nothing that it makes from here on is for other users. */
export function loadAppForData() {
  process.umask(0o077);
  return loadApp();
}
