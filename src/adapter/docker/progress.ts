/** Progress of image operations: the engine answers with JSON lines, the last of which may be an error. */
import type { Readable } from "node:stream";
import { Problem } from "../../core/errors.ts";

export interface ImageProgress {
  /** What is done now, e.g. `Downloading`, `Loaded image: name:tag`. */
  status: string;
  /** The layer, when it is about one. */
  layer?: string;
  currentBytes?: number;
  totalBytes?: number;
}

interface ProgressLine {
  status?: string;
  stream?: string;
  id?: string;
  error?: string;
  progressDetail?: { current?: number; total?: number };
}

function parseLine(line: string): ProgressLine | undefined {
  try {
    return JSON.parse(line) as ProgressLine;
  } catch {
    return undefined;
  }
}

/** Reads the answer to its end and returns its status lines' texts. Throws `docker_error` when the engine reports one. */
export async function followProgress(
  answer: Readable,
  onProgress?: (progress: ImageProgress) => void,
): Promise<string[]> {
  const seen: string[] = [];
  for await (const text of (await import("node:readline")).createInterface({ input: answer })) {
    const line = parseLine(text);
    if (!line) continue;
    if (line.error) throw new Problem(502, "docker_error", line.error.trim());
    const status = (line.status ?? line.stream ?? "").trim();
    if (!status) continue;
    // Layers repeat the same word for every few kilobytes: only the callback gets those.
    if (!line.id) seen.push(status);
    onProgress?.({
      status,
      ...(line.id ? { layer: line.id } : {}),
      ...(line.progressDetail?.current === undefined ? {} : { currentBytes: line.progressDetail.current }),
      ...(line.progressDetail?.total === undefined ? {} : { totalBytes: line.progressDetail.total }),
    });
  }
  return seen;
}
