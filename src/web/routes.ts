/**
 * The pages: an address, a title, the file that draws it (loaded when it is first shown), and its place in the
 * navigation. A page is one folder under page/ and its lines here.
 */
import { Activity, House, type LucideIcon } from "lucide-react";
import { type ComponentType, lazy } from "react";

export interface Page {
  path: string;
  title: string;
  view: ComponentType;
  /** Shown to administrators only; the API refuses others as well. */
  admin?: boolean;
  nav?: { group: "Work" | "Team" | "System"; icon: LucideIcon; key: string };
}

type Loader = () => Promise<{ default: ComponentType }>;
const page = (path: string, title: string, load: Loader, more: Omit<Page, "path" | "title" | "view"> = {}): Page => ({
  ...{ path, title, view: lazy(load) },
  ...more,
});

export const PAGES: Page[] = [
  page("/", "Home", () => import("./page/home/home-page.tsx"), { nav: { group: "Work", icon: House, key: "h" } }),
  page("/runs", "Runs", () => import("./page/runs/runs-page.tsx"), {
    nav: { group: "Work", icon: Activity, key: "r" },
  }),
  page("/runs/new", "Start a run", () => import("./page/runs/start-page.tsx")),
  page("/runs/:id", "Run", () => import("./page/run/run-page.tsx")),
];
