/**
 * An inline script that runs before any file is loaded. It applies the theme: the choice stored in this browser, else
 * the system's. It sends the page's first requests and starts loading its scripts. If a script or style fails to load
 * because the network changed, it reloads the page.
 */
import { askFirst } from "./api/first-answers.ts";
import { askPage } from "./ui/early-files.ts";
import { noteLoaded, reloadOnce } from "./ui/reload-once.ts";

const dark = matchMedia("(prefers-color-scheme: dark)");

function apply(): void {
  let chosen: string | null = null;
  try {
    chosen = localStorage.getItem("skep-theme");
  } catch {
    // Storage is disabled, so the system's theme applies.
  }
  const theme = chosen === "light" || chosen === "dark" ? chosen : dark.matches ? "dark" : "light";
  document.documentElement.dataset["theme"] = theme;
}

apply();
dark.addEventListener("change", apply);
addEventListener("skep-theme", apply);
addEventListener("storage", apply);

const site = new URL(document.documentElement.dataset["base"] ?? "/", location.href);
askFirst(site.href);
askPage(site);

/** Name under which the failure of any file that the page needs first is noted. */
const FIRST_FILES = "first files";
/** How long to wait before a reload, in ms: after a dropped connection the network needs a moment. */
const RELOAD_AFTER_MS = 500;

/** Whether the element loads a script or style of this dashboard, and not one of a browser extension. */
function isAsset(target: EventTarget | null): boolean {
  const isStyle = target instanceof HTMLLinkElement && target.rel === "stylesheet";
  const address = target instanceof HTMLScriptElement ? target.src : isStyle ? target.href : "";
  return address.startsWith(`${site.href}assets/`);
}

let isWhole = true;
addEventListener(
  "error",
  ({ target }) => {
    // A page that is already rendered may contain typed text, so it is not reloaded.
    if (!isAsset(target) || document.getElementById("app")?.hasChildNodes()) return;
    isWhole = false;
    reloadOnce(FIRST_FILES, RELOAD_AFTER_MS);
  },
  true,
);
addEventListener("load", () => isWhole && noteLoaded(FIRST_FILES));
