/** When routes are created, and which of them answers a path. */
import { describe, expect, test } from "bun:test";
import { ANONYMOUS } from "./caller.ts";
import { defineOperation } from "./operation.ts";
import { createRouteTable, type Routes } from "./route-table.ts";

/** Operations with these paths that answer with the name. */
const routesOf = (name: string, paths: string[]) =>
  paths.map((path) =>
    defineOperation(`${name}${path}`, `GET ${path}` as "GET /", { access: "public", handler: () => name }),
  );
const answer = async (table: ReturnType<typeof createRouteTable>, path: string, host = "skep.internal") => {
  const request = new Request(`http://${host}${path}`);
  const known = { caller: ANONYMOUS, requestId: "req_test", pending: null, bytes: null, form: null };
  const response = await table.dispatch(request, (route, params) =>
    route.perform({ request, path, query: new URLSearchParams(), params, ...known }),
  );
  return response?.text();
};

describe("a table of routes", () => {
  /** @returns the table, and the features whose routes were created so far. */
  function createTable({ off = "" } = {}) {
    const made: string[] = [];
    const later = (name: string, paths: string[]): Routes => {
      return () => {
        made.push(name);
        return routesOf(name, paths);
      };
    };
    const probes = routesOf("probes", ["/healthz", "/v1/:any/probe"]);
    const table = createRouteTable(
      [
        { owner: "one", routes: later("one", ["/v1/one/probe", "/v1/one/:id"]) },
        { owner: "probes", routes: probes },
        { owner: "two", routes: later("two", ["/two"]) },
      ],
      ({ name, path }) =>
        async ({ params }) =>
          new Response([name.slice(0, -path.length), ...Object.values(params)].join(" ")),
      (owner) => {
        if (owner === off) throw new Error(`${owner} is off`);
      },
    );
    return { table, made };
  }

  test("answers a probe without making the routes of any feature", async () => {
    const { table, made } = createTable();
    expect(await answer(table, "/healthz")).toBe("probes");
    expect(made).toEqual([]);
  });

  test("makes all routes once for the first other path, and the most exact of all answers", async () => {
    const { table, made } = createTable();
    expect(await answer(table, "/v1/one/probe")).toBe("one");
    expect(await answer(table, "/v1/one/7")).toBe("one 7");
    expect(await answer(table, "/v1/two/probe")).toBe("probes two");
    expect(await answer(table, "/nowhere")).toBeUndefined();
    expect(await answer(table, "/v1/one/a%2Fb/", "h")).toBe("one a/b");
    expect(table.methods("/two")).toEqual(["GET", "HEAD", "OPTIONS"]);
    expect([...table.roots]).toEqual(["v1", "healthz", "two"]);
    expect(made).toEqual(["one", "two"]);
  });

  test("asks before each request whether the owner of its route can answer", async () => {
    const { table } = createTable({ off: "one" });
    expect(answer(table, "/v1/one/probe")).rejects.toThrow("one is off");
    expect(answer(table, "/v1/one/7")).rejects.toThrow("one is off");
    expect(await answer(table, "/healthz")).toBe("probes");
    expect(await answer(table, "/two")).toBe("two");
  });
});
