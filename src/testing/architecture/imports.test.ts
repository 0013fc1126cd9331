/** The rules for imports, checked in the sources: which part may import which, and that there are no cycles. */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { Glob } from "bun";
import { filesOf, importsWithTypes, textOf } from "./source-files.ts";

const SRC = resolve(import.meta.dir, "../..");
const plain = new Bun.Transpiler({ loader: "ts" });
const withMarkup = new Bun.Transpiler({ loader: "tsx" });
const scan = (file: string): string[] =>
  (file.endsWith("x") ? withMarkup : plain).scanImports(readFileSync(join(SRC, file), "utf8")).map(({ path }) => path);

/** The value imports of each file, as paths below src. Type-only imports are gone after transpiling. */
function importsOf(): Map<string, string[]> {
  const files = [...new Glob("**/*.{ts,tsx}").scanSync(SRC)].filter(
    (file) => !file.endsWith(".d.ts") && !file.includes("fixtures/"),
  );
  return new Map(
    files.map((file) => {
      const found = scan(file);
      const own = found
        .filter((path) => path.startsWith("."))
        .map((path) => relative(SRC, resolve(SRC, dirname(file), path)));
      return [file, own.filter((path) => /\.tsx?$/.test(path))] as const;
    }),
  );
}

/** The part to which a file belongs: its folder, with features and adapters kept apart. */
function room(file: string): string {
  const [top, second] = file.split("/");
  if (!second) return file;
  return top === "feature" || top === "adapter" ? `${top}/${second.replace(/\.ts$/, "")}` : top!;
}

function isAllowed(from: string, to: string): boolean {
  if (from === to) return true;
  const [source, target] = [room(from), room(to)];
  if (source === target) return true;
  const top = source.split("/")[0]!;
  if (/\.test\.tsx?$/.test(from) || top === "testing") return true;
  if (target === "testing") return false;
  switch (top) {
    case "core":
      return false;
    case "working-copy":
    case "process":
      return target === "core";
    case "text":
      return target === "core" || target === "process";
    case "store":
    case "adapter":
    case "graph":
    case "engine":
      return (
        target === "core" ||
        (target === "working-copy" && top !== "engine") ||
        (target === "process" && top === "graph") ||
        (top === "store" && to.startsWith("../agents/"))
      );
    case "http":
      return target === "core" || target === "store";
    case "feature":
      if (["core", "store", "http", "working-copy", "process"].includes(target)) return true;
      if (target.startsWith("feature/") && /\/(model|events)\.ts$/.test(to)) return true;
      // The engine's terms that features use: kinds of sessions, parts of messages, events, tools. Also the pipeline
      // planner, which consists of pure functions on rows.
      if (["engine/events.ts", "engine/kinds.ts", "engine/parts.ts", "engine/tool.ts"].includes(to)) return true;
      if (to.startsWith("engine/pipeline/")) return true;
      // The graph defines its own terms.
      if (from.startsWith("feature/knowledge-graph/") && to === "graph/model.ts") return true;
      // A feature's wiring may import what it passes to its own parts.
      return (
        (/\/feature\.ts$/.test(from) || from.startsWith("feature/engine/")) &&
        (["engine", "graph"].includes(target) || target.startsWith("adapter/") || to === "feature/feature.ts")
      );
    case "app":
      return !["cli", "web", "main.ts", "app.ts"].includes(target);
    case "app.ts":
      return !["cli", "web", "main.ts"].includes(target);
    case "cli":
      return ["core", "process", "app.ts", "graph", "working-copy"].includes(target);
    case "main.ts":
      // Besides the command line: workers, which are separate processes.
      return ["cli", "core", "process", "graph", "text"].includes(target) || /^store\/\w+-worker\.ts$/.test(to);
    case "web":
      // The API's own document; types do not count here.
      return target === "api";
    default:
      return false;
  }
}

/** The layers of the dashboard, from bottom to top. A file may import from its own layer and those below. */
const FLOORS = ["api", "keys", "live", "session", "ui", "kit", "page", "routes.ts", "theme.ts", "shell", "main.tsx"];
const floorOf = (file: string): number => FLOORS.indexOf(file.split("/")[1] ?? "");

describe("architecture", () => {
  const imports = importsOf();

  test("a file imports only from rooms that its own may know", () => {
    const upward = [...imports].flatMap(([from, tos]) =>
      tos.filter((to) => !isAllowed(from, to)).map((to) => `${from} → ${to}`),
    );
    expect(upward).toEqual([]);
  });

  test("in the dashboard pages import what is below them: a page knows neither the frame around it nor the list of pages", () => {
    const web = [...imports].filter(([from]) => from.startsWith("web/"));
    expect(web.map(([from]) => from).filter((from) => floorOf(from) < 0)).toEqual([]);
    const upward = web.flatMap(([from, tos]) =>
      tos.filter((to) => to.startsWith("web/") && floorOf(to) > floorOf(from)).map((to) => `${from} → ${to}`),
    );
    expect(upward).toEqual([]);
  });

  test("core does no I/O: it opens no file, starts no process, speaks to no network and reads no environment", () => {
    const modules =
      /^(node:)?(fs|fs\/promises|child_process|net|tls|http|https|dgram|dns|os|tty|worker_threads|bun|bun:\w+)$/;
    const doing =
      /\bBun\.(spawn|spawnSync|file|write|connect|serve|listen|stdin|stdout|\$|unsafe)|\bprocess\.(env|stdin|stdout|stderr|kill|exit|dlopen)\b|\bfetch\(/;
    const found = filesOf("core/*.ts").filter((file) => {
      const code = plain.transformSync(textOf(file));
      return scan(file).some((path) => modules.test(path)) || doing.test(code);
    });
    expect(found).toEqual([]);
    // Each file is parsed, which on a busy machine takes longer than the usual limit.
  }, 300_000);

  test("the store and core know no type of a feature or an adapter", () => {
    const upward = filesOf("{store,core}/**/*.ts").flatMap((file) =>
      importsWithTypes(file)
        .filter((path) => /^(feature|adapter)\//.test(path))
        .map((path) => `${file} → ${path}`),
    );
    expect(upward).toEqual([]);
  });

  test("no import cycle of any size", () => {
    const cycles: string[] = [];
    const state = new Map<string, "open" | "done">();
    const visit = (file: string, path: string[]): void => {
      if (state.get(file) === "done") return;
      if (state.get(file) === "open") {
        cycles.push([...path.slice(path.indexOf(file)), file].join(" → "));
        return;
      }
      state.set(file, "open");
      for (const next of imports.get(file) ?? []) visit(next, [...path, file]);
      state.set(file, "done");
    };
    for (const file of imports.keys()) visit(file, []);
    expect(cycles).toEqual([]);
  });

  test("the framework stays in one file of http; the graph engine behind one file", () => {
    const strays = [...imports.keys()]
      .filter((file) => !/\.test\.tsx?$/.test(file) && !file.startsWith("testing/"))
      .flatMap((file) =>
        scan(file)
          .filter(
            (path) =>
              (path === "elysia" && file !== "http/elysia.ts") || (path === "kuzu" && file !== "graph/store/kuzu.ts"),
          )
          .map((path) => `${file} imports ${path}`),
      );
    expect(strays).toEqual([]);
  });

  test("commands load the server only where they need it", () => {
    const loading = [...imports]
      .filter(([file, tos]) => file.startsWith("cli/") && !/\.test\.tsx?$/.test(file) && tos.includes("app.ts"))
      .map(([file]) => file);
    expect(loading).toEqual(["cli/load-app.ts"]);
  });

  test("files stay under 400 lines", () => {
    const long = [...imports.keys()]
      .filter((file) => !/\.test\.tsx?$/.test(file) && !file.endsWith(".gen.ts"))
      .map((file) => [file, readFileSync(join(SRC, file), "utf8").split("\n").length] as const)
      .filter(([, lines]) => lines > 400);
    expect(long).toEqual([]);
  });

  test("no file is a grab bag by its name", () => {
    const bags = [...imports.keys()].filter((file) =>
      /(^|\/)(utils?|helpers?|common|misc|manager)(\.ts|\/)/.test(file),
    );
    expect(bags).toEqual([]);
  });
});
