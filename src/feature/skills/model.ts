/** Skills as the API shows them. */
import { type Static, Type as t } from "@sinclair/typebox";
import { RESERVED_SLUGS, SLUG } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import { oneOf, orNull, Time } from "../../core/schema.ts";
import { Origin } from "../memory/model.ts";

const SkillScope = oneOf("global", "agent");

/** A problem in a file that people wrote. */
export const FileProblem = t.Object({
  line: t.Integer(),
  column: t.Integer(),
  pointer: t.String({ description: "JSON pointer into the file's values." }),
  message: t.String(),
});
export type FileProblem = Static<typeof FileProblem>;

export const Skill = t.Object({
  name: t.String(),
  description: t.String(),
  tags: t.Array(t.String()),
  enabled: t.Boolean(),
  content: t.String({ description: "Markdown." }),
  scope: SkillScope,
  agent_id: orNull(t.String()),
  origin: Origin,
  owner_id: orNull(t.String({ description: "The user in whose work alone it is used; null: in everybody's." })),
  trusted: t.Boolean({
    description:
      "False: an agent wrote it after it had read outside text. Until somebody confirms it no prompt holds it, and it is shown to its owner's agents alone, as material.",
  }),
  overrides_global: t.Boolean(),
  source_file: t.String({ description: "Below the folder of agents." }),
  has_files: t.Boolean({ description: "More files come with it." }),
  problems: t.Array(FileProblem),
  updated_at: Time,
});
export type Skill = Static<typeof Skill>;

/** Most characters of a description. It is short because every agent reads the descriptions of all its skills. */
export const MAX_DESCRIPTION = 2_000;

const Description = t.String({
  minLength: 1,
  maxLength: MAX_DESCRIPTION,
  description: "What agents see of it before they load it.",
});
export const MAX_TAGS = 50;
export const MAX_TAG_CHARACTERS = 100;
const Tags = t.Array(t.String({ minLength: 1, maxLength: MAX_TAG_CHARACTERS }), { maxItems: MAX_TAGS });
export const SkillCreate = t.Object({
  name: t.Optional(
    t.String({
      pattern: SLUG.source,
      description: `Small letters, digits and hyphens; not ${[...RESERVED_SLUGS].join(", ")}.`,
    }),
  ),
  description: t.Optional(Description),
  tags: t.Optional(Tags),
  content: t.String({
    minLength: 1,
    maxLength: LIMITS.textCharacters,
    description: "Markdown. Name, description and tags that are not sent are those of its front matter.",
  }),
  scope: t.Optional(SkillScope),
  agent_id: t.Optional(orNull(t.String({ maxLength: 64, description: "With scope agent." }))),
  enabled: t.Optional(t.Boolean()),
});
export type SkillCreate = Static<typeof SkillCreate>;

export const SkillUpdate = t.Object({
  description: t.Optional(Description),
  tags: t.Optional(orNull(Tags)),
  content: t.Optional(
    t.String({
      minLength: 1,
      maxLength: LIMITS.textCharacters,
      description:
        "Markdown. A description and tags that are not sent are those of its front matter, where that has some.",
    }),
  ),
  enabled: t.Optional(t.Boolean()),
  trusted: t.Optional(t.Literal(true, { description: "You have read it, and confirm it." })),
  for_everybody: t.Optional(
    t.Literal(true, { description: "It has no owner any more and is used in everybody's work. Administrators alone." }),
  ),
});
export type SkillUpdate = Static<typeof SkillUpdate>;
