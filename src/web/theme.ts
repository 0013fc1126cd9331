/**
 * Stands in the page itself, so that it runs before any file is here: light or dark, as chosen on this machine or as its
 * system says; the first questions and the scripts of the page are asked for; and a page whose script or style could not be
 * loaded, because the network changed meanwhile, is loaded again.
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
    // Storage is switched off: the system's choice applies.
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

/** What the page needs before it draws anything, noted as one file. */
const FIRST_FILES = "first files";
/** A connection that was just dropped needs a moment. */
const RELOAD_AFTER_MS = 500;

/** Whether it is a script or style of this dashboard; what an extension adds is not. */
function isAsset(target: EventTarget | null): boolean {
  const isStyle = target instanceof HTMLLinkElement && target.rel === "stylesheet";
  const address = target instanceof HTMLScriptElement ? target.src : isStyle ? target.href : "";
  return address.startsWith(`${site.href}assets/`);
}

let isWhole = true;
addEventListener(
  "error",
  ({ target }) => {
    // A page that is drawn may hold something typed.
    if (!isAsset(target) || document.getElementById("app")?.hasChildNodes()) return;
    isWhole = false;
    reloadOnce(FIRST_FILES, RELOAD_AFTER_MS);
  },
  true,
);
addEventListener("load", () => isWhole && noteLoaded(FIRST_FILES));
