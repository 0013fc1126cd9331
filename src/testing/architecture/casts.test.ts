/** Casts (`value as Type`): where the product's own types end, and nowhere else. */
import { expect, test } from "bun:test";
import ts from "typescript-api";
import { filesOf, textOf } from "./source-files.ts";

/**
 * How many each part of the product may have, and what they are for. A new one is a reason to look for a better type
 * first: a schema, a guard (`isOneOf`, `isObject`), `membersOf` for what is foreign, `ownJson` for what we wrote,
 * `statement<Row>` for rows, `keysOf` and its like, a form's `choice`. Where the number falls, lower it.
 */
const BORDERS: Record<string, [most: number, why: string]> = {
  adapter: [6, "libraries, engines and services whose types say less than they do"],
  app: [4, "features put together by name"],
  cli: [4, "answers of the API, which each command reads in its own way"],
  core: [6, "the helpers named above, and generic walks over JSON"],
  engine: [3, "what a schema has just checked"],
  feature: [15, "columns of JSON whose type depends on another column, and libraries of schemas"],
  graph: [24, "messages between processes, the parser's memory, the graph engine"],
  http: [4, "schemas of any kind"],
  store: [11, "rows, archives and the C library's lock"],
  text: [7, "messages between processes, the PDF library"],
  web: [41, "the DOM, and answers that the description types too loosely"],
  "working-copy": [6, "functions of the C library"],
};

/**
 * Files of the command line that still read answers by fields which nobody checks (`Loose`). The others take their types
 * from the API's document (`api/types.ts`). The list only gets shorter.
 */
const LOOSE = [
  "mcp/tool-servers.ts",
  "onboard/onboard.ts",
  "onboard/terminal-onboarding.ts",
  "resource/changes.ts",
  "resource/codehost.ts",
  "resource/command.ts",
  "resource/documents.ts",
  "resource/find.ts",
  "resource/memory.ts",
  "resource/notifications.ts",
  "resource/pipelines.ts",
  "resource/project-here.ts",
  "resource/providers.ts",
  "resource/resource.ts",
  "resource/routines.ts",
  "resource/skills.ts",
  "resource/sso.ts",
  "resource/swarm.ts",
  "resource/task-board.ts",
  "resource/task-import.ts",
  "resource/task-workflow.ts",
  "resource/tasks.ts",
  "resource/voice.ts",
  "server/client.ts",
  "settings.ts",
];

test("the command line reads answers by the API's own types, but for the files listed", () => {
  const loose = filesOf("cli/**/*.ts").filter((file) => !file.endsWith(".test.ts") && /\bLoose\b/.test(textOf(file)));
  expect(loose.sort()).toEqual(LOOSE.map((file) => `cli/${file}`));
});

/** Lines of a file's casts, `as const` left out. */
function castsIn(file: string): number[] {
  const text = textOf(file);
  if (!/\bas\b/.test(text)) return [];
  const kind = file.endsWith("x") ? ts.ScriptKind.TSX : ts.ScriptKind.TS;
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, false, kind);
  const found: number[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isAsExpression(node) && !ts.isConstTypeReference(node.type))
      found.push(source.getLineAndCharacterOfPosition(node.type.pos).line + 1);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

test("no part has more casts than it had", () => {
  const product = filesOf("**/*.{ts,tsx}").filter(
    (file) => !/^testing\/|\/fixtures\/|\.test\.tsx$|\.gen\.ts$/.test(file),
  );
  const places = new Map<string, string[]>();
  for (const file of product) {
    const part = file.split("/")[0]!;
    for (const line of castsIn(file)) places.set(part, [...(places.get(part) ?? []), `${file}:${line}`]);
  }
  const over = [...places].flatMap(([part, found]) => {
    const [most] = BORDERS[part] ?? [0];
    return found.length <= most ? [] : [`${part}: ${found.length} casts, at most ${most}: ${found.join(" ")}`];
  });
  expect(over).toEqual([]);
  // Each file is parsed: on a busy machine that takes longer than the usual bound.
}, 300_000);
