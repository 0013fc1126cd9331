/** Reads a diff as git prints it without context lines (`-p -U0`). */

export interface ChangedFile {
  path: string;
  status: "added" | "modified" | "deleted" | "renamed" | "untracked";
  /** The earlier path of a renamed file. */
  from?: string;
}

/** Changed lines of a file as it is now. For a deleted file, its former lines. */
export interface Hunk {
  start: number;
  end: number;
  added: boolean;
}

export interface ChangedFiles {
  files: ChangedFile[];
  hunks: Map<string, Hunk[]>;
}

export function readDiff(diff: string): ChangedFiles {
  const changes: ChangedFiles = { files: [], hunks: new Map() };
  let file: ChangedFile | undefined;
  /** How many content lines of the hunk are still to come. They are skipped whatever they look like. */
  let content = 0;
  for (const line of diff.split("\n")) {
    if (content > 0) {
      if (!line.startsWith("\\")) content -= 1;
    } else if (line.startsWith("diff --git ")) {
      file = { path: pathIn(line), status: "modified" };
      changes.files.push(file);
    } else if (file && line.startsWith("@@")) content = readHunk(line, file, changes);
    else if (file) readHeader(line, file);
  }
  return changes;
}

function readHeader(line: string, file: ChangedFile): void {
  if (line.startsWith("new file mode")) file.status = "added";
  else if (line.startsWith("deleted file mode")) file.status = "deleted";
  else if (line.startsWith("rename from ")) file.from = line.slice("rename from ".length);
  else if (line.startsWith("rename to ")) {
    file.status = "renamed";
    file.path = line.slice("rename to ".length);
  } else if (line.startsWith("+++ b/")) file.path = line.slice("+++ b/".length).replace(/\t$/, "");
}

/** @returns how many lines of content follow */
function readHunk(line: string, file: ChangedFile, { hunks }: ChangedFiles): number {
  const [, oldStart, oldCount = "1", newStart, newCount = "1"] =
    /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line) ?? [];
  const isDeleted = file.status === "deleted";
  const start = Number(isDeleted ? oldStart : newStart);
  const count = Number(isDeleted ? oldCount : newCount);
  const list = hunks.get(file.path) ?? [];
  // Removed lines leave no lines of their own. The lines around the gap count as the change.
  const hunk = { start: Math.max(1, start), end: Math.max(start, start + count - 1), added: Number(oldCount) === 0 };
  list.push(hunk);
  hunks.set(file.path, list);
  return Number(oldCount) + Number(newCount);
}

/** The path after the change, from a line `diff --git a/… b/…`. */
function pathIn(line: string): string {
  const [, name = ""] = / "?b\/([\s\S]*)$/.exec(line) ?? [];
  return name.endsWith('"') ? name.slice(0, -1) : name;
}
