import { Type as t } from "@sinclair/typebox";
import { defineEvent } from "../../core/events.ts";

export const memoryWritten = defineEvent(
  "memory_written",
  t.Object(
    { entry: t.String({ description: "Path of the entry in the agent's vault, without `.md`." }), title: t.String() },
    { description: "An entry of an agent's memory was written." },
  ),
  { stale: ["/v1/memory", "/v1/memory-scores"] },
);

export const memoryEvents = [memoryWritten] as const;
