/** Follows the progress of image operations. The engine answers with JSON lines, the last of which may be an error. */

import type { Readable } from "node:stream";
import { Problem } from "../../core/errors.ts";
import { numberIn, textIn } from "../../core/is-object.ts";
import { readMembers } from "../../core/json-reader.ts";
import { createLineSplitter } from "../../core/line-splitter.ts";
import { raceSignal } from "../../core/race-signal.ts";
import { unlessGivenUp } from "./streams.ts";

export interface ImageProgress {
  /** Current step, e.g. `Downloading`, `Loaded image: name:tag`. */
  status: string;
  /** Id of the layer, when the line is about one. */
  layer?: string;
  currentBytes?: number;
  totalBytes?: number;
}

/**
 * Reads the answer to its end. @returns the texts of its status lines.
 * @param signal closes the answer.
 * @throws `docker_error` when the engine reports one, and the signal's reason.
 */
export async function followProgress(
  answer: Readable,
  signal: AbortSignal,
  onProgress?: (progress: ImageProgress) => void,
): Promise<string[]> {
  const close = () => answer.destroy();
  signal.addEventListener("abort", close, { once: true });
  try {
    return await raceSignal(statusTexts(unlessGivenUp(answer, signal), onProgress), signal);
  } finally {
    signal.removeEventListener("abort", close);
  }
}

const LINE_BYTES = 1024 * 1024;

async function* linesOf(answer: Readable): AsyncGenerator<string> {
  let lines: string[] = [];
  const splitter = createLineSplitter({ maxBytes: LINE_BYTES, onLine: ({ text }) => lines.push(text) });
  for await (const chunk of answer) {
    splitter.add(typeof chunk === "string" ? Buffer.from(chunk) : chunk);
    yield* lines;
    lines = [];
  }
  splitter.end();
  yield* lines;
}

async function statusTexts(answer: Readable, onProgress?: (progress: ImageProgress) => void): Promise<string[]> {
  const seen: string[] = [];
  for await (const text of linesOf(answer)) {
    const line = readMembers(text);
    const error = textIn(line, "error");
    if (error) throw new Problem(502, "docker_error", error.trim());
    const status = (textIn(line, "status") ?? textIn(line, "stream") ?? "").trim();
    if (!status) continue;
    // A layer repeats its status every few kilobytes, so lines about layers only reach the callback.
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
