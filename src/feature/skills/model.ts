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
  content: t.String({ description: "Instructions of the skill, in Markdown." }),
  scope: SkillScope,
  agent_id: orNull(t.String()),
  origin: Origin,
  owner_id: orNull(
    t.String({ description: "The only user in whose work the skill is used; null if it is used in everybody's." }),
  ),
  trusted: t.Boolean({
    description:
      "False if an agent wrote the skill after it had read outside text. Until somebody confirms it, no prompt contains it, and only its owner's agents can read it, as material.",
  }),
  overrides_global: t.Boolean(),
  source_file: t.String({ description: "Path of the file below the folder of agents." }),
  has_files: t.Boolean({ description: "Whether the skill comes with more files." }),
  problems: t.Array(FileProblem),
  updated_at: Time,
});
export type Skill = Static<typeof Skill>;

/** Most characters of a description. It is short because every agent reads the descriptions of all its skills. */
export const MAX_DESCRIPTION = 2_000;

const Description = t.String({
  minLength: 1,
  maxLength: MAX_DESCRIPTION,
  description: "Description of the skill, which is all that agents see before they load it.",
});
export const MAX_TAGS = 50;
export const MAX_TAG_CHARACTERS = 100;
const Tags = t.Array(t.String({ minLength: 1, maxLength: MAX_TAG_CHARACTERS }), { maxItems: MAX_TAGS });
export const SkillCreate = t.Object({
  name: t.Optional(
    t.String({
      pattern: SLUG.source,
      description: `Lowercase letters, digits and hyphens; not ${[...RESERVED_SLUGS].join(", ")}.`,
    }),
  ),
  description: t.Optional(Description),
  tags: t.Optional(Tags),
  content: t.String({
    minLength: 1,
    maxLength: LIMITS.textCharacters,
    description:
      "Instructions in Markdown. Name, description and tags are read from its front matter if they are not sent.",
  }),
  scope: t.Optional(SkillScope),
  agent_id: t.Optional(
    orNull(t.String({ maxLength: 64, description: "Agent that has the skill; required with the scope `agent`." })),
  ),
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
        "Instructions in Markdown. Description and tags are read from its front matter, if it has some and they are not sent.",
    }),
  ),
  enabled: t.Optional(t.Boolean()),
  trusted: t.Optional(t.Literal(true, { description: "Confirms that you have read the skill." })),
  for_everybody: t.Optional(
    t.Literal(true, {
      description: "Removes the owner, so that the skill is used in everybody's work. Administrators only.",
    }),
  ),
});
export type SkillUpdate = Static<typeof SkillUpdate>;
