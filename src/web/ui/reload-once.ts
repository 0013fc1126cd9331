/**
 * Reloads the page because one of its files is missing. It does so once per file until the file loads, so that a
 * permanently missing file does not cause endless reloads. The tab's session storage remembers the attempt.
 */
const noteOf = (file: string) => `skep-reloaded ${file}`;

/** @returns whether the page will be reloaded; false if that was tried already, or if it cannot be remembered. */
export function reloadOnce(file: string, afterMs = 0): boolean {
  try {
    if (sessionStorage.getItem(noteOf(file))) return false;
    sessionStorage.setItem(noteOf(file), "1");
  } catch {
    // Without storage nothing would stop the reloads.
    return false;
  }
  setTimeout(() => location.reload(), afterMs);
  return true;
}

/** Notes that the file has loaded. If it is missing later, the page may be reloaded again. */
export function noteLoaded(file: string): void {
  try {
    sessionStorage.removeItem(noteOf(file));
  } catch {
    // Storage is disabled, so nothing was noted.
  }
}
