/** The server's own folder of carried files: lists its entries and changes them. */
import { randomBytes } from "node:crypto";
import { takeTurns } from "../../../core/turns.ts";
import type { FileKind, FileStat, Folder, NewFile } from "../../../working-copy/folder.ts";
import { joinPath, walkBeneath } from "../../../working-copy/walk.ts";
import type { FarStat, Sink } from "./carrier.ts";

export interface NearEntry {
  kind: FileKind;
  mode: number;
  size: number;
  /** Differs when the entry has changed. */
  mark: string;
}

/** Permissions that all files and folders here get, because the server must be able to use them again. */
const OWN_FILE = 0o600;
const OWN_FOLDER = 0o700;

export function nearEntry(stat: FileStat): NearEntry {
  const { kind, size, inode, changedSeconds, changedNanoseconds } = stat;
  const mode = stat.mode & 0o777;
  const mark =
    kind === "folder" ? "folder" : `${kind} ${mode} ${size} ${inode} ${changedSeconds} ${changedNanoseconds}`;
  return { kind, mode, size, mark };
}

/** All entries below a folder, folders before their contents. */
export async function scanNear(top: Folder): Promise<Map<string, NearEntry>> {
  const found = new Map<string, NearEntry>();
  const turn = takeTurns();
  for await (const { folder, path, entries } of walkBeneath(top, { leaveOut: "nothing" }))
    for (const { name } of entries) {
      const pause = turn();
      if (pause) await pause;
      const stat = folder.findListed(name);
      if (stat && stat.kind !== "other") found.set(joinPath(path, name), nearEntry(stat));
    }
  return found;
}

export function makeNearFolder(top: Folder, path: string, mode: number): NearEntry {
  if (top.find(path)?.kind !== "folder") top.makeFolder(path, mode | OWN_FOLDER);
  return nearEntry(top.stat(path));
}

export function makeNearLink(top: Folder, path: string, target: string): NearEntry {
  const draft = draftBeside(path);
  top.makeLink(draft, target);
  replace(top, draft, path);
  return nearEntry(top.stat(path));
}

/**
 * Receives a file under a temporary name next to its place and then renames it, so that a reader sees either the old or
 * the new file.
 */
export function nearSink(
  top: Folder,
  path: string,
  onDone: (far: FarStat, near: NearEntry) => void,
): Sink & Disposable {
  const draft = draftBeside(path);
  let file: NewFile | undefined;
  let taken: FarStat | undefined;
  return {
    begin(stat) {
      taken = stat;
      // Only plain permission bits are set; a sandbox cannot make a file set-uid or set-gid.
      file = top.newFile(draft, (stat.mode & 0o777) | OWN_FILE);
    },
    part: (data) => file!.append(data),
    end() {
      file![Symbol.dispose]();
      file = undefined;
      replace(top, draft, path);
      onDone(taken!, nearEntry(top.stat(path)));
    },
    [Symbol.dispose]() {
      if (!file) return;
      file[Symbol.dispose]();
      top.unlink(draft);
    },
  };
}

function draftBeside(path: string): string {
  const slash = path.lastIndexOf("/") + 1;
  return `${path.slice(0, slash)}.skep-${randomBytes(9).toString("base64url")}`;
}

function replace(top: Folder, draft: string, path: string): void {
  try {
    top.rename(draft, path);
  } catch (error) {
    top.unlink(draft);
    throw error;
  }
}
