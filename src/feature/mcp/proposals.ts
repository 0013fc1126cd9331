/**
 * Tool servers that a project's repository proposes in its `.mcp.json`. Administrators see them and take those that
 * they want. A taken server is registered switched off and granted to no agent; nothing in the file is started by
 * itself.
 */
import { type Static, Type as t } from "@sinclair/typebox";
import { conflict, notFound } from "../../core/errors.ts";
import { isObject } from "../../core/is-object.ts";
import { readJson } from "../../core/json-reader.ts";
import { oneOf, orNull } from "../../core/schema.ts";
import type { Caller } from "../../http/caller.ts";
import { readConfig } from "./import.ts";
import type { Imported } from "./model.ts";
import type { Mcp } from "./service.ts";

const FILE = ".mcp.json";

const ProposedServer = t.Object(
  {
    name: t.String({ description: "Name of the server in the file." }),
    id: orNull(t.String({ description: "Id that the server would get here." })),
    is_registered: t.Boolean({ description: "Whether a tool server with this id exists already." }),
    transport: orNull(oneOf("stdio", "http", "sse")),
    command: t.Array(t.String(), { description: "Command with its arguments." }),
    url: orNull(t.String()),
    values: t.Array(t.String(), { description: "Names of the server's environment variables and headers." }),
    reason: orNull(t.String({ description: "Why the server cannot be registered; null if it can." })),
  },
  { title: "ProposedServer" },
);
type ProposedServer = Static<typeof ProposedServer>;

export const ProposedServers = t.Object(
  {
    file: orNull(t.String({ description: "Path of the file; null if the repository has none." })),
    branch: orNull(t.String()),
    commit: orNull(t.String()),
    items: t.Array(ProposedServer),
  },
  { title: "ProposedServers" },
);
export type ProposedServers = Static<typeof ProposedServers>;

export const TakeProposed = t.Object({
  commit: t.String({
    maxLength: 64,
    description: "Commit at which the list was read. If the branch has moved since, the answer is 409 `commit_moved`.",
  }),
  names: t.Array(t.String({ maxLength: 256 }), { minItems: 1, maxItems: 50, uniqueItems: true }),
  image: t.Optional(t.String({ minLength: 1, maxLength: 512 })),
});
type TakeProposed = Static<typeof TakeProposed>;

interface ProposalsDeps {
  mcp: Pick<Mcp, "import" | "exists">;
  /** @throws Problem 404. */
  assertProject(id: string): void;
  fileOf(projectId: string, path: string): Promise<{ text: string; commit: string; branch: string } | null>;
}

export type Proposals = ReturnType<typeof createProposals>;

export function createProposals({ mcp, assertProject, fileOf }: ProposalsDeps) {
  async function read(projectId: string) {
    assertProject(projectId);
    const file = await fileOf(projectId, FILE);
    return file && { ...file, servers: serversIn(file.text) };
  }
  const present = (name: string, raw: unknown): ProposedServer => {
    const [found] = readConfig({ mcpServers: { [name]: raw } }, undefined);
    const server = found?.server;
    const none = { id: null, is_registered: false, transport: null, command: [], url: null, values: [] };
    if (!server) return { ...none, name, reason: found?.reason ?? "It cannot be read." };
    const { id, transport, command, args = [], url, env = {}, headers = {} } = server;
    return {
      name,
      id,
      is_registered: mcp.exists(id),
      transport,
      url: url ?? null,
      command: [...(command ? [command] : []), ...args],
      values: [...Object.keys(env), ...Object.keys(headers)],
      reason: namesSecret(raw) ? NAMES_SECRET : null,
    };
  };
  return {
    async list(projectId: string): Promise<ProposedServers> {
      const found = await read(projectId);
      if (!found) return { file: null, branch: null, commit: null, items: [] };
      const items = found.servers.map(([name, raw]) => present(name, raw));
      return { file: FILE, branch: found.branch, commit: found.commit, items };
    },
    /** @throws Problem 404, 409 `commit_moved` when the file has changed since it was shown. */
    async take(projectId: string, { commit, names, image }: TakeProposed, caller: Caller): Promise<Imported> {
      const found = await read(projectId);
      if (!found) throw notFound("file .mcp.json in this repository");
      if (found.commit !== commit)
        throw conflict("The branch has moved since. Look at the servers again.", "commit_moved");
      const wanted = found.servers.filter(([name, raw]) => names.includes(name) && !namesSecret(raw));
      const refused = names
        .filter((name) => !wanted.some(([one]) => one === name))
        .map((name) => ({
          name,
          reason: found.servers.some(([one]) => one === name) ? NAMES_SECRET : "It is not in the file.",
        }));
      const config = { mcpServers: Object.fromEntries(wanted) };
      const taken = mcp.import({ config, ...(image === undefined ? {} : { image }) }, caller);
      return { created: taken.created, left_out: [...taken.left_out, ...refused] };
    },
  };
}

const NAMES_SECRET = "It asks for a stored secret. Register it by hand, with the secret that you want it to have.";
const namesSecret = (raw: unknown): boolean => JSON.stringify(raw)?.includes("${secret:") ?? false;
const SERVERS_MOST = 50;

/** A file that cannot be parsed names no servers. */
function serversIn(text: string): [string, unknown][] {
  try {
    const json = readJson(text);
    const servers = isObject(json) ? json["mcpServers"] : undefined;
    return isObject(servers) ? Object.entries(servers).slice(0, SERVERS_MOST) : [];
  } catch (error) {
    if (error instanceof SyntaxError) return [];
    throw error;
  }
}
