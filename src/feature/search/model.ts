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
      t.String({
        description: "Agent to which a skill, a chat or a memory entry belongs; `shared` for the memory of all agents.",
      }),
    ),
    section_id: orNull(t.String({ description: "Section of the document that contains the words." })),
  },
  { title: "Found" },
);
export type Found = Static<typeof Found>;
export const FoundList = t.Object({ items: t.Array(Found) }, { title: "FoundList" });
