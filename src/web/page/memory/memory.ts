/** What the pages of memory share. */
import type { Schemas } from "../../api/client.ts";
import { refresh } from "../../api/queries.ts";
import { useAgentNames } from "../../session/actor.tsx";

export type Entry = Schemas["MemoryEntry"];
export type Hit = Schemas["MemoryHit"];

export const ENTRY_TYPES = [
  ...(["fact", "decision", "lesson", "preference", "commitment", "relationship", "project", "note"] as const),
];

/** `[[decision/one-writer|another name]]`. */
const LINK = /\[\[([^[\]|\n]{1,200})(?:\|([^[\]\n]{0,200}))?\]\]/g;

/** @returns the text of an entry without the marks of its links, for a line of a list. */
export const previewOf = (content: string): string =>
  content.replace(
    LINK,
    (_, to: string, name?: string) => name || to.slice(to.lastIndexOf("/") + 1).replaceAll("-", " "),
  );

/**
 * Links to other entries as links of Markdown, outside of code, by their titles. One to an entry that is not there stays
 * as it was written.
 */
export const withLinks = (content: string, titles: ReadonlyMap<string, string>): string =>
  content
    .split("`")
    .map((part, at) =>
      at % 2 === 1
        ? part
        : part.replace(LINK, (written, to: string, name?: string) => {
            const title = titles.get(to.trim());
            const shown = (name || title || "").replaceAll(/[^\p{L}\p{N}\s]/gu, "\\$&");
            return title === undefined ? written : `[${shown}](?entry=${encodeURIComponent(to.trim())})`;
          }),
    )
    .join("`");

export const entryHref = (agent: string, entry: string): string =>
  `/memory/${agent}?entry=${encodeURIComponent(entry)}`;

/** @returns what a vault is called: by its agent's name, or by that it is everybody's. */
export function useVaultName(): (agent: string) => string {
  const nameOf = useAgentNames();
  return (agent) => (agent === "shared" ? "Shared by all agents" : nameOf(agent));
}

export const refreshMemory = () => refresh("/v1/memory", "/v1/memory-scores");
