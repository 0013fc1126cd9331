/** What the pages of memory share. */
import type { Schemas } from "../../api/client.ts";
import { refresh } from "../../api/queries.ts";
import { useAgentNames } from "../../session/actor.tsx";
import { NOTE_LINK } from "../../ui/note-link.ts";
import { plainText } from "../../ui/plain-text.ts";

export type Entry = Schemas["MemoryEntry"];
export type Hit = Schemas["MemoryHit"];

export const ENTRY_TYPES = [
  ...(["fact", "decision", "lesson", "preference", "commitment", "relationship", "project", "note"] as const),
];

/** @returns the words of an entry without the marks of its links and of its form, for a line of a list. */
export const previewOf = (content: string): string =>
  plainText(
    content.replace(
      NOTE_LINK,
      (_, to: string, name?: string) => name || to.slice(to.lastIndexOf("/") + 1).replaceAll("-", " "),
    ),
  );

export const entryHref = (agent: string, entry: string): string =>
  `/memory/${agent}?entry=${encodeURIComponent(entry)}`;

/** @returns what a vault is called: by its agent's name, or by that it is everybody's. */
export function useVaultName(): (agent: string) => string {
  const nameOf = useAgentNames();
  return (agent) => (agent === "shared" ? "Shared by all agents" : nameOf(agent));
}

export const refreshMemory = () => refresh("/v1/memory", "/v1/memory-scores");
