/** Loaded before anything is drawn: light or dark, as chosen on this machine or as its system says. */
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
