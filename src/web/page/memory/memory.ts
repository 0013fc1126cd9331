/** What the pages of memory share. */
import type { Schemas } from "../../api/client.ts";
import { refresh } from "../../api/queries.ts";

export type Entry = Schemas["MemoryEntry"];
export type Hit = Schemas["MemoryHit"];

export const ENTRY_TYPES = [
  ...(["fact", "decision", "lesson", "preference", "commitment", "relationship", "project", "note"] as const),
];

export const entryHref = (agent: string, entry: string): string =>
  `/memory/${agent}?entry=${encodeURIComponent(entry)}`;

export const vaultName = (agent: string): string => (agent === "shared" ? "Shared by all agents" : agent);

export const refreshMemory = () => refresh("/v1/memory", "/v1/memory-scores");
