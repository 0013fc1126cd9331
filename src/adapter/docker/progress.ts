/** Progress of image operations: the engine answers with JSON lines, the last of which may be an error. */
import { Problem } from "../../core/errors.ts";
import { isObject, numberIn, textIn } from "../../core/is-object.ts";

export interface ImageProgress {
  /** What is done now, e.g. `Downloading`, `Loaded image: name:tag`. */
  status: string;
  /** The layer, when it is about one. */
  layer?: string;
  currentBytes?: number;
  totalBytes?: number;
}

function parseLine(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Reads the answer to its end and returns its status lines' texts. Throws `docker_error` when the engine reports one. */
export async function followProgress(
  answer: NodeJS.ReadableStream,
  onProgress?: (progress: ImageProgress) => void,
): Promise<string[]> {
  const seen: string[] = [];
  for await (const text of (await import("node:readline")).createInterface({ input: answer })) {
    const line = parseLine(text);
    if (!line) continue;
    const error = textIn(line, "error");
    if (error) throw new Problem(502, "docker_error", error.trim());
    const status = (textIn(line, "status") ?? textIn(line, "stream") ?? "").trim();
    if (!status) continue;
    // Layers repeat the same word for every few kilobytes: only the callback gets those.
    const layer = textIn(line, "id");
    if (!layer) seen.push(status);
    const currentBytes = numberIn(line["progressDetail"], "current");
    const totalBytes = numberIn(line["progressDetail"], "total");
    onProgress?.({
      status,
      ...(layer ? { layer } : {}),
      ...(currentBytes === undefined ? {} : { currentBytes }),
      ...(totalBytes === undefined ? {} : { totalBytes }),
    });
  }
  return seen;
}
