/** `find`: finds files by name in the whole workspace. */
import { Type } from "@sinclair/typebox";
import { takeTurns } from "../../core/turns.ts";
import type { WalkEntry } from "../sandbox.ts";
import description from "./find.md" with { type: "text" };
import { fileTool, pathParameter } from "./tool-input.ts";

const MAX_WALKED = 100_000;
const MAX_SHOWN = 1_000;

export const findTool = fileTool({
  name: "find",
  description,
  parameters: Type.Object({
    pattern: Type.String({ minLength: 1, maxLength: 512, description: "Glob: * ? ** [abc] {a,b}." }),
    path: Type.Optional(pathParameter("The folder to look in; the whole workspace when left out")),
    ignored: Type.Optional(Type.Boolean({ description: "Also look at what .gitignore leaves out." })),
  }),
  run: async ({ pattern, path = ".", ignored = false }, { sandbox, signal }) => {
    const { entries, truncated } = await sandbox.workspace.walk(path, { maxEntries: MAX_WALKED, ignored, signal });
    const glob = new Bun.Glob(pattern.replace(/^\.?\//, ""));
    const byName = !pattern.includes("/");
    const prefix = commonPrefix(path);
    const turn = takeTurns();
    const found: WalkEntry[] = [];
    for (const entry of entries) {
      await turn();
      const below = entry.path.startsWith(prefix) ? entry.path.slice(prefix.length) : entry.path;
      if (glob.match(byName ? below.slice(below.lastIndexOf("/") + 1) : below)) found.push(entry);
    }
    const lines = found.slice(0, MAX_SHOWN).map(({ path: at, kind }) => (kind === "folder" ? `${at}/` : at));
    if (found.length > MAX_SHOWN) lines.push(`[${found.length - MAX_SHOWN} more; use a narrower pattern or path]`);
    if (truncated) lines.push(`[only the first ${MAX_WALKED} files and folders were looked at]`);
    return { ok: true, output: lines.length > 0 ? lines.join("\n") : "Nothing found." };
  },
});

/** The prefix that all walked paths have when `path` was asked for. */
function commonPrefix(path: string): string {
  const plain = path
    .replace(/^\/workspace\/?/, "")
    .replace(/^(\.\/)+/, "")
    .replace(/(?<!\/)\/+$/, "");
  return plain === "" || plain === "." ? "" : `${plain}/`;
}
