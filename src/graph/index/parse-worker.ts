/**
 * A parsing process. It writes the facts of each request's files to its segment, and answers where in the segment they
 * are.
 */
import { messageOf } from "../../core/errors.ts";
import { createGrammars } from "../language/grammar.ts";
import { type Place, SegmentWriter } from "../store/fact-segment.ts";
import { type ParsedFile, type ParseRequest, parseFiles } from "./parse-files.ts";

export interface ParseReply {
  id: number;
  files: (Omit<ParsedFile, "facts"> & { place: Place })[];
  /** Why none of the request's files could be parsed. */
  error?: string;
}

/**
 * Runs until the parent disconnects. Throws if the process was started without an IPC channel.
 * @param path the segment file, which this process creates
 */
export function runParseWorker(path: string): void {
  if (!process.send) throw new Error("parse-worker is started by an index, over IPC");
  const grammars = createGrammars();
  const writer = new SegmentWriter(path);
  process.on("message", async ({ id, request }: { id: number; request: ParseRequest }) => {
    process.send?.(await answer(id, request).catch((error) => ({ id, files: [], error: messageOf(error) })));
  });
  process.on("disconnect", () => process.exit(0));

  async function answer(id: number, request: ParseRequest): Promise<ParseReply> {
    const parsed = await parseFiles(request, await grammars);
    const places = writer.append(parsed.map(({ facts }) => facts));
    return { id, files: parsed.map(({ facts: _, ...file }, i) => ({ ...file, place: places[i]! })) };
  }
}
