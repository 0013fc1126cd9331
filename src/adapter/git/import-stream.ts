/** Writes a commit in the format of `git fast-import`: one stream of paths and contents. */
import type { ChangedFile, Comparison } from "../../working-copy/compare.ts";
import type { Identity } from "./commit.ts";

export interface ImportTarget {
  /** Full reference name of the branch, and its current commit. */
  ref: string;
  commit: string;
  message: string;
  author: Identity;
}

/** Small pieces are collected into batches of this size. */
const BATCH_BYTES = 256 * 1024;

/**
 * Yields the changes as one commit, for which git answers the hash. Yields nothing when there are no changes.
 * @param changed gets each file that was sent, without its content
 */
export async function* importedChanges(
  comparison: Comparison,
  target: ImportTarget,
  changed: ChangedFile[],
): AsyncGenerator<Buffer> {
  const batch = createBatch();
  const folders = new Set<string>();
  let hasHeader = false;
  const begin = () => {
    if (!hasHeader) batch.add(commitHeader(target));
    hasHeader = true;
  };
  for await (const file of comparison.changes) {
    begin();
    for (const piece of fileCommand(file)) {
      if (piece.length >= BATCH_BYTES) {
        yield batch.take();
        yield piece;
      } else batch.add(piece);
    }
    addFolders(file.path, folders);
    changed.push({ ...file, data: undefined });
    if (batch.isFull()) yield batch.take();
  }
  for (const path of comparison.gone) {
    // When a folder has replaced a file, importing the folder's first file has already deleted the file.
    if (folders.has(path)) continue;
    begin();
    batch.add(Buffer.from(`D ${quote(path)}\n`, "latin1"));
    if (batch.isFull()) yield batch.take();
  }
  if (!hasHeader) return;
  batch.add(Buffer.from("\nget-mark :1\ndone\n"));
  yield batch.take();
}

function createBatch() {
  let pieces: Buffer[] = [];
  let bytes = 0;
  return {
    add(piece: Buffer) {
      pieces.push(piece);
      bytes += piece.length;
    },
    isFull: () => bytes >= BATCH_BYTES,
    take() {
      const whole = Buffer.concat(pieces);
      pieces = [];
      bytes = 0;
      return whole;
    },
  };
}

function commitHeader({ ref, commit, message, author }: ImportTarget): Buffer {
  const text = Buffer.from(`${message.trim()}\n`);
  const by = `${sanitize(author.name)} <${sanitize(author.email)}> now`;
  const head = `commit ${ref}\nmark :1\nauthor ${by}\ncommitter ${by}\ndata ${text.length}\n`;
  return Buffer.concat([Buffer.from(head), text, Buffer.from(`\nfrom ${commit}\n`)]);
}

const sanitize = (text: string): string => text.replace(/[<>\n\r\0]/g, "");

function fileCommand({ path, mode, objectId, data }: ChangedFile): Buffer[] {
  const encodeModify = (content: string) => Buffer.from(`M ${mode.toString(8)} ${content} ${quote(path)}\n`, "latin1");
  if (data === undefined) return [encodeModify(objectId)];
  return [encodeModify("inline"), Buffer.from(`data ${data.length}\n`), data, Buffer.from("\n")];
}

/** Quotes a path as a C string. The path may contain any bytes. */
const quote = (path: string): string => `"${path.replace(/["\\]/g, "\\$&").replaceAll("\n", "\\n")}"`;

function addFolders(path: string, folders: Set<string>): void {
  for (let at = path.lastIndexOf("/"); at > 0; at = path.lastIndexOf("/", at - 1)) {
    const folder = path.slice(0, at);
    if (folders.has(folder)) return;
    folders.add(folder);
  }
}
