/** `ls`: the entries of one folder. */
import { Type } from "@sinclair/typebox";
import type { FileEntry } from "../sandbox.ts";
import description from "./ls.md" with { type: "text" };
import { fileTool, pathParameter } from "./tool-input.ts";

const MAX_SHOWN = 500;
const MARKS = { folder: "/", link: "@", other: "?", file: "" } as const;

export const lsTool = fileTool({
  name: "ls",
  description,
  parameters: Type.Object({
    path: Type.Optional(pathParameter("The folder; the workspace itself when left out")),
  }),
  run: async ({ path = "." }, { sandbox }) => {
    const entries = await sandbox.workspace.list(path);
    if (entries.length === 0) return { ok: true, output: `${path} is empty.` };
    const lines = entries.slice(0, MAX_SHOWN).map(entryLine);
    if (entries.length > MAX_SHOWN) lines.push(`[${entries.length - MAX_SHOWN} more; use find with a pattern]`);
    return { ok: true, output: lines.join("\n") };
  },
});

function entryLine({ name, kind, sizeBytes }: FileEntry): string {
  return `${name}${MARKS[kind]}${kind === "file" ? `  ${sizeText(sizeBytes)}` : ""}`;
}

function sizeText(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  return bytes < 1024 ** 2 ? `${(bytes / 1024).toFixed(1)} kB` : `${(bytes / 1024 ** 2).toFixed(1)} MB`;
}
