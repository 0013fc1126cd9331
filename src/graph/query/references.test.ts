/** Imports and decorators are found when they are asked for, and do not get in the way of other questions. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createSourceTree, type SourceTree } from "../../testing/source-tree.ts";
import { createGraphSession, type GraphSession } from "../serve/session.ts";

let tree: SourceTree;
let session: GraphSession;

beforeAll(async () => {
  tree = createSourceTree({
    "hooks.ts": "export function cached(target: unknown, key: string) {\n  return key;\n}\n",
    "cart.ts":
      'import { cached } from "./hooks.ts";\nimport { z } from "zod";\n\nexport class Cart {\n  @cached\n  total() {\n    return z.number();\n  }\n}\n',
    "shop.ts": 'import { Cart } from "./cart.ts";\nexport const open = (cart: Cart) => cart.total();\n',
  });
  session = createGraphSession({ root: tree.root, store: tree.store });
  await session.index({ force: false });
});
afterAll(() => {
  session.close();
  tree.remove();
});

const ids = (symbols: readonly { id: string }[]) => symbols.map(({ id }) => id);
const findIds = (query: string, labels?: readonly ("Import" | "Decorator")[]) =>
  ids(session.query({ query, labels, limit: 10, includeCode: false }).items.map(({ symbol }) => symbol));

describe("imports and decorators", () => {
  test("a name means its declaration, though imports and decorators have the name too", () => {
    const answer = session.context("cached");
    expect(answer.found === "one" && answer.context.symbol.id).toBe("Function:hooks.ts#cached");
  });

  test("a search gives declarations first, and what is only imported where nothing declares it", () => {
    expect(findIds("cached")[0]).toBe("Function:hooks.ts#cached");
    expect(findIds("zod")).toEqual(["Import:cart.ts#zod"]);
    expect(findIds("cached", ["Decorator"])).toEqual(["Decorator:cart.ts#Cart.total.cached"]);
    expect(findIds("hooks", ["Import"])).toEqual(["Import:cart.ts#./hooks.ts"]);
  });

  test("the context of a method has its decorators, that of a decorator what it names, that of an import what it brings in", () => {
    const of = (name: string) => {
      const answer = session.context(name);
      if (answer.found !== "one") throw new Error(`${name}: ${answer.found}`);
      return answer.context;
    };
    expect(ids(of("Cart.total").members)).toEqual(["Decorator:cart.ts#Cart.total.cached"]);
    expect(ids(of("Decorator:cart.ts#Cart.total.cached").uses)).toEqual(["Function:hooks.ts#cached"]);
    expect(of("Decorator:cart.ts#Cart.total.cached").code.trim()).toBe("@cached");
    expect(ids(of("Import:cart.ts#./hooks.ts").imports)).toEqual(["File:hooks.ts", "Function:hooks.ts#cached"]);
    expect(ids(of("hooks.ts").imported_by)).toEqual(["File:cart.ts"]);
  });

  test("a change of a decorator reaches what it decorates, and who calls that", () => {
    const answer = session.impact({ target: "cached", direction: "upstream", maxDepth: 3, minConfidence: 0 });
    const depths = answer.found === "one" ? answer.impact.depths.map(({ symbols }) => ids(symbols)) : [];
    expect(depths[0]).toContain("Method:cart.ts#Cart.total");
    expect(depths[1]).toContain("Function:shop.ts#open");
  });

  test("Cypher reads both with their lines", async () => {
    const rows = async (query: string) => (await session.cypher(query, {}, 10)).rows;
    expect(
      await rows("MATCH (i:Import)-[:IMPORTS]->(f:File) RETURN i.name, i.start_line, f.name ORDER BY f.name"),
    ).toEqual([
      ["./cart.ts", 1, "cart.ts"],
      ["./hooks.ts", 1, "hooks.ts"],
    ]);
    expect(
      await rows(
        "MATCH (m:Method)-[:CONTAINS]->(d:Decorator)-[:USES]->(f:Function) RETURN m.name, d.start_line, f.name",
      ),
    ).toEqual([["total", 5, "cached"]]);
  });
});
