/**
 * Skills for a step: those that its input calls for, and the list of one line per skill that every session begins with.
 */
import { LIMITS } from "../core/limits.ts";

export interface MatchableSkill {
  name: string;
  description: string;
  tags: readonly string[];
}

/**
 * The text's words in lower case, with single spaces around each. Letters, digits and inner marks (`c++`, `node.js`)
 * form a word.
 */
function wordsOf(text: string): string {
  const words =
    text
      .toLowerCase()
      .normalize("NFC")
      .match(/[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}+#]|[._'](?=[\p{L}\p{N}]))*/gu) ?? [];
  return ` ${words.join(" ")} `;
}

/**
 * The skills whose tags occur in the input as whole words, in any case: most matching tags first, ties by name. Linear
 * in the input for a given set of tags.
 */
export function matchSkills<Skill extends MatchableSkill>(skills: readonly Skill[], input: string): Skill[] {
  const text = wordsOf(input.slice(0, LIMITS.textCharacters));
  const hits = skills.map((skill) => {
    const tags = new Set(skill.tags.map(wordsOf).filter((tag) => tag.trim() !== ""));
    return { skill, count: [...tags].filter((tag) => text.includes(tag)).length };
  });
  return hits
    .filter(({ count }) => count > 0)
    .sort((a, b) => b.count - a.count || (a.skill.name < b.skill.name ? -1 : 1))
    .slice(0, LIMITS.skillsInjected)
    .map(({ skill }) => skill);
}

/** One line per skill: `- name: description`. */
export const skillManifest = (skills: readonly Pick<MatchableSkill, "name" | "description">[]): string =>
  skills
    .map(({ name, description }) => `- ${name}: ${description.replace(/\s+/g, " ").trim().slice(0, 300)}`)
    .join("\n");
