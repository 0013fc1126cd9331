/** Suggestions for a name that does not exist. */
import { expect, test } from "bun:test";
import { GraphBuilder } from "../index/structure.ts";
import { nearNames } from "./near-names.ts";

function graphOf(names: readonly string[]) {
  const builder = new GraphBuilder();
  for (const name of names) builder.addNode("Function", name, name, 0);
  return builder.finish();
}

const GRAPH = graphOf(["findFolder", "findFolders", "fnidFolder", "folder", "remove", "ÜberSicht", "x1", "x2", "y2"]);

test("names are near when few letters differ, changed places, or one is a good part of the other; the nearest first", () => {
  const near = (text: string) => nearNames(GRAPH, text, 8);
  expect(near("findFoldr")).toEqual(["findFolder", "findFolders", "fnidFolder"]);
  expect(near("kit.fnidFolder()")).toEqual(["fnidFolder", "findFolder", "folder", "findFolders"]);
  expect(near("überSihct")).toEqual(["ÜberSicht"]);
  expect(near("x3")).toEqual(["x1", "x2"]);
  expect(near("remover")).toEqual(["remove"]);
  expect(near("somethingElse")).toEqual([]);
  expect(near(" ")).toEqual([]);
  expect(nearNames(GRAPH, "x3", 1)).toEqual(["x1"]);
});
