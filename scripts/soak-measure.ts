/**
 * The measures of `scripts/bench soak` for a server at rest: its process, its data folder, the rows of its tables.
 * Linux only.
 */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";

/** Measures by name: `memory MB`, `rows runs`, `bytes uploads`, `entries uploads`. */
export type Measures = Record<string, number>;

const MB = 1024 ** 2;
const DATABASE = "skep.db";
const read = (path: string): string => {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
};
/** Names in a folder; empty if it has just been removed. */
const listNames = (path: string): string[] => {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
};

/** Processor time of the process's running threads, in ms. */
export const ranMs = (pid: number): number =>
  listNames(`/proc/${pid}/task`).reduce(
    (sum, thread) => sum + Number(read(`/proc/${pid}/task/${thread}/schedstat`).split(" ")[0] ?? 0) / 1e6,
    0,
  );

/** Number of running processes that were started by the process or its descendants. */
function countDescendants(pid: number): number {
  const parents = listNames("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((name) => ({
      pid: Number(name),
      parent: Number(/^PPid:\s+(\d+)/m.exec(read(`/proc/${name}/status`))?.[1]),
    }));
  const countBelow = (one: number): number =>
    parents.filter(({ parent }) => parent === one).reduce((sum, child) => sum + 1 + countBelow(child.pid), 0);
  return countBelow(pid);
}

/** Number of files and folders below a folder, and the size of the files in bytes. */
function sumBelow(folder: string): { entries: number; bytes: number } {
  const sum = { entries: 0, bytes: 0 };
  for (const name of listNames(folder)) {
    const path = join(folder, name);
    const found = statSync(path, { throwIfNoEntry: false });
    sum.entries++;
    if (found?.isDirectory()) {
      const inner = sumBelow(path);
      sum.entries += inner.entries;
      sum.bytes += inner.bytes;
    } else sum.bytes += found?.size ?? 0;
  }
  return sum;
}

function rowsOf(data: string): Measures {
  const db = new Database(join(data, DATABASE), { readonly: true });
  try {
    const tables = db
      .prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'")
      .pluck()
      .all();
    const count = (table: string) => db.prepare<[], number>(`SELECT count(*) FROM "${table}"`).pluck().get() ?? 0;
    return Object.fromEntries(tables.map((table) => [`rows ${table}`, count(table)]));
  } finally {
    db.close();
  }
}

/** @param temporary the server's folder for temporary files. */
export function measure(pid: number, data: string, temporary: string): Measures {
  const status = read(`/proc/${pid}/status`);
  const readKb = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1] ?? 0);
  const readSize = (name: string) => statSync(join(data, name), { throwIfNoEntry: false })?.size ?? 0;
  const measures: Measures = {
    "memory MB": readKb("VmRSS") / 1024,
    descriptors: listNames(`/proc/${pid}/fd`).length,
    threads: listNames(`/proc/${pid}/task`).length,
    "processes below it": countDescendants(pid),
    "database MB": readSize(DATABASE) / MB,
    "WAL MB": readSize(`${DATABASE}-wal`) / MB,
  };
  const folders = listNames(data).filter((name) => statSync(join(data, name)).isDirectory());
  for (const [name, path] of [
    ...folders.map((one) => [one, join(data, one)]),
    ["temporary files", temporary],
  ] as const) {
    const { entries, bytes } = sumBelow(path!);
    measures[`entries ${name}`] = entries;
    measures[`kB ${name}`] = bytes / 1024;
  }
  return Object.assign(measures, rowsOf(data));
}
