/**
 * Loaded before anything is drawn: light or dark, as chosen on this machine or as its system says; and a page whose script
 * or style was not had, because the network changed meanwhile, is loaded again.
 */
const dark = matchMedia("(prefers-color-scheme: dark)");

function apply(): void {
  let chosen: string | null = null;
  try {
    chosen = localStorage.getItem("skep-theme");
  } catch {
    // Storage is switched off: the system's choice applies.
  }
  const theme = chosen === "light" || chosen === "dark" ? chosen : dark.matches ? "dark" : "light";
  document.documentElement.dataset["theme"] = theme;
}

apply();
dark.addEventListener("change", apply);
addEventListener("skep-theme", apply);
addEventListener("storage", apply);

const RELOADED = "skep-reloaded";
const RELOAD_AFTER_MS = 500;
/** A file that is not had again so soon after is missing, and stays so. */
const RELOAD_EVERY_MS = 10_000;

addEventListener(
  "error",
  ({ target }) => {
    const isNeeded =
      target instanceof HTMLScriptElement || (target instanceof HTMLLinkElement && target.rel === "stylesheet");
    if (!isNeeded) return;
    try {
      if (Date.now() - Number(sessionStorage.getItem(RELOADED)) < RELOAD_EVERY_MS) return;
      sessionStorage.setItem(RELOADED, String(Date.now()));
    } catch {
      // Without storage nothing would end the reloads.
      return;
    }
    setTimeout(() => location.reload(), RELOAD_AFTER_MS);
  },
  true,
);
