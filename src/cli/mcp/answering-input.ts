/**
 * Passes standard input on, but holds back its end until every request is answered. Otherwise the library would leave
 * requests unanswered, and `echo … | skep mcp` would print nothing.
 */

import { PassThrough, type Readable, Transform, type Writable } from "node:stream";
import { readMembers } from "../../core/json-reader.ts";
import { LIMITS } from "../../core/limits.ts";
import { createLineSplitter } from "../../core/line-splitter.ts";

interface AnsweringInput {
  input: Readable;
  output: Writable;
  /** Resolves when the input has ended and every request is answered. */
  ended: Promise<void>;
}

export function answeringInput(stdin: Readable, stdout: Writable): AnsweringInput {
  const open = new Set<unknown>();
  const input = new PassThrough();
  let isOver = false;
  let done!: () => void;
  const ended = new Promise<void>((resolve) => {
    done = resolve;
  });
  const endIfDone = () => {
    if (!isOver || open.size > 0) return;
    input.end();
    done();
  };
  const asked = byLine((id, isAnswer) => !isAnswer && open.add(id));
  const answered = byLine((id, isAnswer) => {
    if (isAnswer) open.delete(id);
    endIfDone();
  });
  stdin.on("data", (chunk: Uint8Array) => {
    asked(chunk);
    input.write(chunk);
  });
  stdin.once("end", () => {
    isOver = true;
    endIfDone();
  });
  const output = new Transform({
    transform(chunk: Uint8Array, _encoding, next) {
      stdout.write(chunk, () => {
        answered(chunk);
        next();
      });
    },
  });
  output.resume();
  return { input, output, ended };
}

/** Reports the id of each message that has one, and whether the message is an answer. */
function byLine(report: (id: unknown, isAnswer: boolean) => unknown): (chunk: Uint8Array) => void {
  return createLineSplitter({
    maxBytes: LIMITS.mcpMessageBytes,
    onLine({ text }) {
      // The library reports lines that are no messages.
      const { id, method } = readMembers(text);
      if (id !== undefined) report(id, method === undefined);
    },
  }).add;
}
