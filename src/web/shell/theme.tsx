/** The theme: light, dark, or that of the system. The choice is stored in this browser. */
import { useSyncExternalStore } from "react";

type Theme = "system" | "light" | "dark";

function readTheme(): Theme {
  const value = localStorage.getItem("skep-theme");
  return value === "light" || value === "dark" ? value : "system";
}

export function setTheme(theme: Theme): void {
  if (theme === "system") localStorage.removeItem("skep-theme");
  else localStorage.setItem("skep-theme", theme);
  dispatchEvent(new Event("skep-theme"));
}

const subscribe = (act: () => void) => {
  addEventListener("skep-theme", act);
  addEventListener("storage", act);
  return () => {
    removeEventListener("skep-theme", act);
    removeEventListener("storage", act);
  };
};

export const useTheme = (): Theme => useSyncExternalStore(subscribe, readTheme);
