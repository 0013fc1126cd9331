/**
 * Loading the page again because a file of it is missing: once for each file until it is there, so that a file that stays
 * missing does not make the page load for ever. Noted in the tab's session.
 */
const noteOf = (file: string) => `skep-reloaded ${file}`;

/** @returns whether the page will be loaded again; false when that was tried already, or cannot be noted. */
export function reloadOnce(file: string, afterMs = 0): boolean {
  try {
    if (sessionStorage.getItem(noteOf(file))) return false;
    sessionStorage.setItem(noteOf(file), "1");
  } catch {
    // Without storage nothing would end the reloads.
    return false;
  }
  setTimeout(() => location.reload(), afterMs);
  return true;
}

/** The file is there: should it be missing later, the page may be loaded again. */
export function noteLoaded(file: string): void {
  try {
    sessionStorage.removeItem(noteOf(file));
  } catch {
    // Storage is switched off, so nothing was noted.
  }
}
