/** Functions that the memory pages share. */
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

/** @returns an entry's text without its link marks and Markdown, for a line in a list. */
export const previewOf = (content: string): string =>
  plainText(
    content.replace(
      NOTE_LINK,
      (_, to: string, name?: string) => name || to.slice(to.lastIndexOf("/") + 1).replaceAll("-", " "),
    ),
  );

export const entryHref = (agent: string, entry: string): string =>
  `/memory/${agent}?entry=${encodeURIComponent(entry)}`;

/** @returns a function for the name of a vault: its agent's name, or that it belongs to everybody. */
export function useVaultName(): (agent: string) => string {
  const nameOf = useAgentNames();
  return (agent) => (agent === "shared" ? "Shared by all agents" : nameOf(agent));
}

export const refreshMemory = () => refresh("/v1/memory", "/v1/memory-scores");
