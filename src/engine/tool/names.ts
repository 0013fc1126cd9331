import { OUTSIDE_TOOLS } from "../../core/outside-table.ts";

/**
 * Names of all tools of the product, for checking agents' files without a running server. A test compares them with a
 * server's.
 */

export const TOOL_NAMES: ReadonlySet<string> = new Set(Object.keys(OUTSIDE_TOOLS));

/**
 * Whether a name has the form of a tool server's tool, `server__tool`. Which of them exist changes while a server runs.
 */
export const isToolOfServer = (name: string): boolean => /^[^_].*__./.test(name);
