/** `load_skill`: the full instructions of a skill that the manifest named. */
import { Type as t } from "@sinclair/typebox";
import type { Tool } from "../tool.ts";
import description from "./load-skill.md" with { type: "text" };

export interface LoadSkillPorts {
  /** The skill as that agent sees it. @throws Problem 404 unknown or switched off. */
  loadSkill(agentId: string, name: string): { name: string; content: string; files: string[] };
  /** A text file that comes with it. @throws Problem 404. */
  readSkillFile(agentId: string, name: string, file: string): string;
}

export interface LoadSkillInput {
  name: string;
  file?: string;
}

export function createLoadSkillTool({ loadSkill, readSkillFile }: LoadSkillPorts): Tool<LoadSkillInput> {
  return {
    name: "load_skill",
    group: "skills",
    description,
    parameters: t.Object({
      name: t.String({ minLength: 1, maxLength: 64, description: "As in the list of skills." }),
      file: t.Optional(t.String({ minLength: 1, maxLength: 500, description: "A file that comes with the skill." })),
    }),
    timeoutMs: 10_000,
    async run({ name, file }, { execution }) {
      if (file !== undefined) return { ok: true, output: readSkillFile(execution.agentId, name, file) };
      const skill = loadSkill(execution.agentId, name);
      const files = skill.files.length > 0 ? `\n\nFiles that come with it: ${skill.files.join(", ")}` : "";
      return { ok: true, output: `# Skill: ${skill.name}\n\n${skill.content}${files}` };
    },
  };
}
