/**
 * Which pages and requests of the dashboard are only for administrators, read from its sources and from the access
 * matrix.
 */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

const WEB = resolve(import.meta.dir, "../../web");
const MATRIX = resolve(import.meta.dir, "../attacks/access-matrix.tsv");

interface PageLine {
  path: string;
  title: string;
  /** The file that renders the page. */
  file: string;
}

/** Reads the pages from `routes.ts`. */
export function pagesOfTheDashboard(): { all: PageLine[]; admins: PageLine[] } {
  const source = readFileSync(join(WEB, "routes.ts"), "utf8");
  const lines = source
    .slice(source.indexOf("PAGES"))
    .split(/\n {2}definePage\(/)
    .slice(1);
  const all = lines.map((line) => {
    const [, path = "", title = "", file = ""] = /^\s*"([^"]+)",\s*"([^"]+)",\s*\(\) => import\("([^"]+)"\)/.exec(
      line,
    )!;
    return { path, title, file: resolve(WEB, file), admin: line.includes("admin: true") };
  });
  return { all, admins: all.filter(({ admin }) => admin) };
}

/** The requests that only administrators may make, as `POST /v1/users`. */
export function forAdministrators(): Set<string> {
  const rows = readFileSync(MATRIX, "utf8").trim().split("\n").slice(1);
  const split = rows.map((row) => row.split("\t") as [string, string, string]);
  return new Set(split.filter(([, , access]) => access === "admin").map(([method, path]) => `${method} ${path}`));
}

const PROJECTS = resolve(import.meta.dir, "../attacks/project-matrix.tsv");
export const LEASTS = ["contributor", "maintainer", "owner"] as const;

/** The requests that need at least this role in the project that they name. */
export function forRole(least: (typeof LEASTS)[number]): Set<string> {
  const rows = readFileSync(PROJECTS, "utf8").trim().split("\n").slice(1);
  const refused = rows.map((row) => row.split("\t")).filter((row) => row[2 + LEASTS.indexOf(least)] === "403");
  return new Set(refused.map(([method, path]) => `${method} ${path}`));
}

export interface SourceFile {
  path: string;
  text: string;
  /** Files of the dashboard from which it imports values, not only types. */
  imports: string[];
  /** The requests that the file makes, as `POST /v1/users`. */
  asks: string[];
}

export function dashboardFiles(): SourceFile[] {
  const names = readdirSync(WEB, { recursive: true }) as string[];
  return names
    .filter((name) => /\.tsx?$/.test(name) && !name.endsWith(".gen.ts"))
    .map((name) => {
      const path = join(WEB, name);
      const text = readFileSync(path, "utf8");
      const imports = [...text.matchAll(/^import (?!type)[\s\S]*?from "(\.[^"]+)"/gm)].map(([, from]) =>
        resolve(dirname(path), from!),
      );
      const calls = [...text.matchAll(/\.(GET|POST|PUT|PATCH|DELETE)\(\s*"(\/[^"]+)"/g)].map(
        ([, method, to]) => `${method} ${to}`,
      );
      const hooks = [...text.matchAll(/use(?:Query|Mutation)\(\s*"(\w+)",\s*"(\/[^"]+)"/g)].map(
        ([, method, to]) => `${method!.toUpperCase()} ${to}`,
      );
      const lists = [...text.matchAll(/usePages\(\s*"(\/[^"]+)"/g)].map(([, to]) => `GET ${to}`);
      return { path, text, imports, asks: [...calls, ...hooks, ...lists] };
    });
}

export const nameOf = (path: string): string => relative(WEB, path);
