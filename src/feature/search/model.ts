import { type Static, Type as t } from "@sinclair/typebox";
import { oneOf, orNull } from "../../core/schema.ts";

export const FoundKind = oneOf(
  "run",
  "task",
  "agent",
  "pipeline",
  "skill",
  "project",
  "chat",
  "memory",
  "document",
  "symbol",
);
export const Found = t.Object(
  {
    kind: FoundKind,
    id: t.String(),
    title: t.String(),
    detail: t.String(),
    status: orNull(t.String()),
    project_id: orNull(t.String()),
    agent_id: orNull(
      t.String({ description: "Of a skill that only one agent has, of a chat, of a memory (`shared`: all agents')." }),
    ),
    section_id: orNull(t.String({ description: "Of a document: the section that holds the words." })),
  },
  { title: "Found" },
);
export type Found = Static<typeof Found>;
export const FoundList = t.Object({ items: t.Array(Found) }, { title: "FoundList" });
