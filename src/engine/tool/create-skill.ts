/** `create_skill`: the agent saves a way of working as a skill of its own. */
import { Type as t } from "@sinclair/typebox";
import { SLUG } from "../../core/ids.ts";
import { defineTool, type ExecutionInfo } from "../tool.ts";
import description from "./create-skill.md" with { type: "text" };

interface CreateSkillInput {
  name: string;
  description: string;
  tags?: string[];
  content: string;
}

interface CreateSkillPorts {
  /**
   * Stores the skill at the agent's own level, for the user it works for.
   * @param outside why the skill may repeat outside text; undefined when it cannot. @throws Problem 409 same name, 422.
   */
  createSkill(execution: ExecutionInfo, skill: Required<CreateSkillInput>, outside: string | undefined): void;
}

export const createCreateSkillTool = ({ createSkill }: CreateSkillPorts) =>
  defineTool({
    name: "create_skill",
    group: "skills",
    description,
    parameters: t.Object({
      name: t.String({ pattern: SLUG.source, description: "Small letters, digits and hyphens." }),
      description: t.String({
        minLength: 1,
        maxLength: 500,
        description: "One line: what it is for and when to use it.",
      }),
      tags: t.Optional(t.Array(t.String({ minLength: 1, maxLength: 64 }), { maxItems: 20 })),
      content: t.String({ minLength: 1, maxLength: 100_000, description: "The instructions, in Markdown." }),
    }),
    timeoutMs: 10_000,
    async run({ name, description, tags = [], content }, context) {
      const outside = context.outside();
      createSkill(context.execution, { name, description, tags, content }, outside);
      const output =
        outside === undefined
          ? `The skill ${name} is kept; load_skill reads it, from your next session on it is listed.`
          : `The skill ${name} is kept, but no prompt lists it until a person confirms it, as this work may repeat outside text. ${outside}`;
      return { ok: true, output };
    },
  });
