/** When routes are made, and which answers a path. */
import { describe, expect, test } from "bun:test";
import { type AnyElysia, Elysia } from "elysia";
import { createRouteTable, type Routes } from "./route-table.ts";

const assemble = (routes: readonly AnyElysia[]): AnyElysia => {
  const app: AnyElysia = new Elysia();
  for (const one of routes) app.use(one);
  return app;
};
/** Routes of that name; `hooks` as a feature declares them. */
const routesOf = (name: string, paths: string[], hooks: object = { access: "public" }) => {
  const app: AnyElysia = new Elysia({ name });
  for (const path of paths) app.get(path, () => name, hooks);
  return app;
};
const answer = async (table: ReturnType<typeof createRouteTable>, path: string) =>
  (await table.find("GET", path)?.handle(new Request(`http://skep.internal${path}`)))?.text();

describe("a table of routes", () => {
  /** @returns the table, and which features' routes were made so far. */
  function opened() {
    const made: string[] = [];
    const later = (name: string, paths: string[]): Routes => {
      return () => {
        made.push(name);
        return routesOf(name, paths);
      };
    };
    const probes = routesOf("probes", ["/healthz", "/v1/:any/probe"]);
    const table = createRouteTable(
      [later("one", ["/v1/one/probe", "/v1/one/:id"]), probes, later("two", ["/two"])],
      assemble,
    );
    return { table, made };
  }

  test("answers a probe without making the routes of any feature", async () => {
    const { table, made } = opened();
    expect(await answer(table, "/healthz")).toBe("probes");
    expect(made).toEqual([]);
  });

  test("makes all routes once for the first other path, and the most exact of all answers", async () => {
    const { table, made } = opened();
    expect(await answer(table, "/v1/one/probe")).toBe("one");
    expect(await answer(table, "/v1/one/7")).toBe("one");
    expect(await answer(table, "/v1/two/probe")).toBe("probes");
    expect(await answer(table, "/nowhere")).toBeUndefined();
    expect(table.methods("/two")).toEqual(["GET", "HEAD", "OPTIONS"]);
    expect([...table.roots]).toEqual(["v1", "healthz", "two"]);
    expect(made).toEqual(["one", "two"]);
  });

  test("refuses routes that say nothing about access, by name", () => {
    const table = createRouteTable([() => routesOf("bare", ["/bare"], {})], assemble);
    expect(() => table.entries).toThrow("routes without access: GET /bare");
  });
});
