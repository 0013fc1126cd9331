/** The text worker: a separate process for text, schemas and patterns of strangers, which may make it hang or grow. */

import { messageOf } from "../core/errors.ts";
import { ownJson } from "../core/own-json.ts";
import type { TextOperation, TextOperations, TextReply, TextRequest } from "./protocol.ts";

type Work = {
  [Name in TextOperation]: (
    ...args: TextOperations[Name]["args"]
  ) => TextOperations[Name]["value"] | Promise<TextOperations[Name]["value"]>;
};

/** Each operation loads its library when it is first called. */
const WORK: Work = {
  async readableText(contentType, body) {
    const { readableText } = await import("./page.ts");
    return readableText(contentType, body);
  },
  async schemaFaults(schema, json) {
    const { schemaFaults } = await import("../core/json-schema.ts");
    return schemaFaults(schema, ownJson<unknown>(json));
  },
};

/** Runs until the parent disconnects. Throws when the process was not started with an IPC channel. */
export function runTextWorker(): void {
  if (!process.send) throw new Error("text-worker is started by the server, over IPC");
  const reply = (message: TextReply) => void process.send?.(message);
  process.on("message", async ({ id, operation, args }: TextRequest) => {
    try {
      const work = WORK[operation] as (...values: unknown[]) => unknown;
      reply({ id, kind: "value", value: await work(...args) });
    } catch (error) {
      reply({ id, kind: "error", message: messageOf(error) });
    }
  });
  process.on("disconnect", () => process.exit(0));
}
