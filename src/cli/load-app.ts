/** The server's code, loaded by the commands that need it: the others start in a third of the time. */
export const loadApp = () => import("../app.ts");

/** The same for a process that works on a data folder: files it creates from here on are for its user only. */
export function loadAppForData() {
  process.umask(0o077);
  return loadApp();
}
