/**
 * Features are listed once, each is composed in one place, and they have no circular dependencies, not even through
 * types.
 */
import { describe, expect, test } from "bun:test";
import { filesOf, importsWithTypes, textOf } from "./source-files.ts";

const LIST = "app/features.ts";
const CONTRACT = "feature/feature.ts";

const list = textOf(LIST);
const folderOf = new Map(
  [...list.matchAll(/^import \{ ([^}]+) \} from "\.\.\/feature\/([^/]+)\/feature\.ts";/gm)].flatMap(
    ([, names, folder]) => names!.split(", ").map((name) => [name, folder!] as const),
  ),
);
/** The features' folders, in the order of the list. */
const order = [...list.matchAll(/^ {2}\.with\((\w+)\)/gm)].map(([, name]) => folderOf.get(name!) ?? `unknown ${name}`);
const folders = [...new Set(filesOf("feature/*/**/*.ts").map((file) => file.split("/")[1]!))];
const wirings = filesOf("feature/*/feature.ts");

describe("features", () => {
  test("every folder has its wiring, which is listed", () => {
    expect(folders.filter((folder) => !order.includes(folder))).toEqual([]);
    expect([...new Set(order)].sort()).toEqual(wirings.map((file) => file.split("/")[1]!).sort());
  });

  test("the list alone names them: nothing else of the server imports a wiring, and what composes them knows none", () => {
    const server = filesOf("{app,http,store,engine,adapter,core}/**/*.ts").concat("app.ts");
    const naming = server.filter((file) =>
      importsWithTypes(file).some((path) => path !== CONTRACT && /^feature\/[^/]+\/feature\.ts$/.test(path)),
    );
    // HTTP asks features who a caller is and lets them count requests, so it uses the types of their answers.
    expect(naming.filter((file) => file !== "app/http.ts")).toEqual([LIST]);
    const composing = importsWithTypes("app/compose.ts").filter((path) => path.startsWith("feature/"));
    expect(composing).toEqual([CONTRACT]);
  });

  test("a feature knows of others only what is above it, in types too: no circle can hide", () => {
    const upward = filesOf("feature/*/**/*.ts").flatMap((file) => {
      const own = file.split("/")[1]!;
      return importsWithTypes(file)
        .filter((path) => path.startsWith("feature/") && path !== CONTRACT && !/\/(model|events)\.ts$/.test(path))
        .filter((path) => path.split("/")[1] !== own)
        .filter((path) => {
          const other = order.indexOf(path.split("/")[1]!);
          return other < 0 || other > order.lastIndexOf(own);
        })
        .map((path) => `${file} → ${path}`);
    });
    expect(upward).toEqual([]);
  });

  test("a wiring fills nothing in later: what it hands on is there when it hands it on", () => {
    const later = wirings.filter((file) => /^\s*(let|var) /m.test(textOf(file)));
    expect(later).toEqual([]);
  });
});
