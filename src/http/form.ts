/**
 * Reads multipart forms as they arrive. The file is written to disk in pieces, so that an upload needs no memory; the
 * fields, which are few and short, are kept in memory.
 */
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createWriteStream, openSync, readdirSync, rmSync, type WriteStream } from "node:fs";
import { join } from "node:path";
import { badRequest, invalid, messageOf, Problem } from "../core/errors.ts";
import { LIMITS } from "../core/limits.ts";

/** A form's file; it exists until its request is answered. */
export interface SpooledFile {
  /** Name given by the client. */
  name: string;
  path: string;
  size: number;
  /** Hexadecimal. */
  sha256: string;
}

export interface Form {
  fields: Readonly<Record<string, string>>;
  file: SpooledFile | undefined;
}

const NAME = "incoming-";
const FIELDS = 20;
const badForm = (detail: string) => badRequest(detail, "bad_form");

/** Removes files that a dead server left in the folder. */
export function clearSpooled(folder: string): void {
  for (const name of readdirSync(folder)) if (name.startsWith(NAME)) rmSync(join(folder, name), { force: true });
}

/** @param folder the server's own folder, on the file system where files are kept. */
export async function readForm(contentType: string, folder: string) {
  const { Busboy } = await import("@fastify/busboy");
  const path = join(folder, `${NAME}${crypto.randomUUID()}`);
  const fields: Record<string, string> = Object.create(null);
  const hash = createHash("sha256");
  let file: { name: string; size: number; out: WriteStream } | undefined;
  let fault: Error | undefined;
  let characters = 0;
  const fail = (error: Error) => {
    fault ??= error;
    parser.emit("drain");
  };
  const parser = createBusboy(Busboy, contentType);
  parser.on("file", (field, stream, name) => {
    if (field !== "file" || file) {
      stream.resume();
      return fail(invalid("The form takes one file, named file.", [{ pointer: "/file", message: "takes one file" }]));
    }
    // Opened immediately: if it were opened later, the file could be created after `remove`.
    const out = createWriteStream(path, { fd: openSync(path, "wx", 0o600), flush: true });
    const known = { name: name ?? "", size: 0, out };
    file = known;
    out.on("error", fail);
    stream.on("data", (piece: Buffer) => {
      known.size += piece.byteLength;
      hash.update(piece);
    });
    stream.pipe(out);
  });
  parser.on("field", (field, value, isCut, isNameCut) => {
    characters += value.length;
    if (isCut || isNameCut || characters > LIMITS.bodyBytes)
      return fail(new Problem(413, "too_large", `The fields of a form may hold ${LIMITS.bodyBytes} bytes.`));
    if (field in fields) return fail(invalid("A field of the form occurs twice."));
    fields[field] = value;
  });
  for (const limit of ["partsLimit", "filesLimit", "fieldsLimit"] as const)
    parser.on(limit, () => fail(badForm("The form has too many parts.")));
  parser.on("error", (error) => fail(badForm(`The form cannot be read: ${messageOf(error).slice(0, 100)}.`)));
  const assertFine = () => {
    if (fault) throw fault;
  };
  return {
    /**
     * Adds a piece of the form, and resolves when there is room for more. @throws Problem 400 or 422 for a form that is
     * not accepted here.
     */
    async add(piece: Uint8Array): Promise<void> {
      assertFine();
      if (!parser.write(Buffer.from(piece))) await once(parser, "drain");
      assertFine();
    },
    /** Ends the form. @throws Problem as `add` does. */
    async end(): Promise<Form> {
      assertFine();
      const finished = Promise.race([once(parser, "finish"), once(parser, "drain")]);
      parser.end();
      await finished.catch(() => {});
      assertFine();
      if (!file) return { fields, file: undefined };
      const { name, out } = file;
      if (!out.closed) await once(out, "close").catch(() => {});
      assertFine();
      return { fields, file: { name, path, size: file.size, sha256: hash.digest("hex") } };
    },
    /** Removes the file. */
    remove(): void {
      file?.out.destroy();
      rmSync(path, { force: true });
    },
  };
}

function createBusboy(make: typeof import("@fastify/busboy").Busboy, contentType: string) {
  try {
    return new make({
      headers: { "content-type": contentType },
      // The client chooses the name; its reader uses only the last part of the path.
      preservePath: true,
      limits: {
        files: 2,
        fields: FIELDS,
        parts: FIELDS + 2,
        fieldSize: LIMITS.bodyBytes,
        fieldNameSize: 100,
        headerPairs: 50,
      },
    });
  } catch (error) {
    throw badForm(`The form cannot be read: ${messageOf(error).slice(0, 100)}.`);
  }
}
