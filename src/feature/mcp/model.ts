/** Tool servers as the API shows them. */
import { type Static, Type as t } from "@sinclair/typebox";
import { SLUG } from "../../core/ids.ts";
import { ImageName } from "../../core/image-name.ts";
import { LIMITS } from "../../core/limits.ts";
import { oneOf, orNull } from "../../core/schema.ts";

/** Words that cannot be ids of servers, because paths below `/v1/mcp` use them. */
export const RESERVED_IDS: ReadonlySet<string> = new Set(["logs", "import", "oauth", "config"]);
export const EVERY_AGENT = "*";

const Transport = oneOf("stdio", "http", "sse");
export const ServerStatus = oneOf("configuring", "running", "error", "stopped");
export type ServerStatus = Static<typeof ServerStatus>;

const Text = (maxLength: number) => t.String({ maxLength });
const Values = (about: string) =>
  t.Record(t.String({ minLength: 1, maxLength: 256 }), Text(LIMITS.secretValueBytes), {
    maxProperties: 200,
    description: `${about} \`\${secret:NAME}\` stands for a stored secret. Values are answered masked; a value sent back as it was answered stays as it is.`,
  });

export const OAuthClient = t.Object({
  client_id: t.String({ minLength: 1, maxLength: 2_000 }),
  client_secret: t.Optional(
    orNull(Text(LIMITS.secretValueBytes), {
      description: `\`\${secret:NAME}\` stands for a stored secret. Answered masked; sent back as answered it stays.`,
    }),
  ),
  issuer: t.String({
    minLength: 1,
    maxLength: 2_000,
    description: "The authorization server that it was registered with. No other is given it.",
  }),
});
export type OAuthClient = Static<typeof OAuthClient>;

const fields = {
  name: t.String({ minLength: 1, maxLength: LIMITS.nameCharacters }),
  description: Text(4_000),
  transport: Transport,
  command: orNull(t.String({ minLength: 1, maxLength: 4_096 }), {
    description: "Program of a stdio server, not a shell line; null: what the image starts.",
  }),
  args: t.Array(Text(32_000), { maxItems: 200 }),
  env: Values("The environment of a stdio server, besides HOME, PATH and LANG."),
  url: orNull(Text(2_000), { description: "Address of an http or sse server." }),
  headers: Values("Sent with each request to an http or sse server."),
  image: orNull(ImageName, {
    description: "Container image of a stdio server. Null runs it on the host, where ALLOW_HOST_SHELL allows that.",
  }),
  network: t.Union([t.Literal("none"), t.Literal("bridge")], { description: "Network of its container." }),
  memory_mb: t.Integer({ minimum: 16, maximum: 65_536, description: "Memory of its container." }),
  timeout_ms: t.Integer({ minimum: 100, maximum: LIMITS.mcpTimeoutMaxMs, description: "Of one call." }),
  oauth: orNull(OAuthClient, {
    description: "A client id for its login that was registered by hand. Null: Skep registers itself.",
  }),
  elicitation: t.Union([t.Literal("off"), t.Literal("defaults")], {
    description:
      "What happens to a form that the server asks for in the middle of a call. `off`: the client declares that nobody can be asked. `defaults`: it is filled with its own defaults if they answer all that is required, and declined if not.",
  }),
  enabled: t.Boolean({ description: "Whether it runs." }),
  agents: t.Array(t.String({ minLength: 1, maxLength: 64 }), {
    maxItems: 1_000,
    description: "Ids of the agents that may use its tools; `*` is every agent.",
  }),
};

const ToolDefinition = t.Object({
  title: t.Optional(t.String()),
  description: t.String(),
  input_schema: t.Record(t.String(), t.Unknown()),
  output_schema: t.Optional(t.Record(t.String(), t.Unknown())),
  annotations: t.Optional(t.Record(t.String(), t.Unknown())),
});

export const McpTool = t.Object({
  name: t.String(),
  description: t.String(),
  input_schema: t.Record(t.String(), t.Unknown()),
  output_schema: orNull(t.Record(t.String(), t.Unknown()), {
    description: "Of its structured answers, which are checked by it before an agent reads them.",
  }),
  agent_tool: t.String({ description: "What agents call it." }),
  hash: t.String({ description: "Of the server's present description." }),
  state: oneOf("ready", "new", "changed", "unusable", "gone"),
  problem: orNull(t.String(), { description: "Why it is unusable." }),
  approved: orNull(ToolDefinition, {
    description: "What was approved, where the server's description has changed since.",
  }),
});
export type McpTool = Static<typeof McpTool>;

export const McpServer = t.Object({
  id: t.String(),
  ...fields,
  status: ServerStatus,
  error: orNull(t.String(), { description: "Why it does not run." }),
  needs_authorization: t.Boolean({ description: "It runs once somebody has logged in to it: POST …/authorize." }),
  authorized: t.Boolean({ description: "There are tokens of an authorization server." }),
  protocol: orNull(t.String(), { description: "Revision of the protocol that is spoken with it." }),
  tools: t.Array(McpTool),
  created_at: t.String({ format: "date-time" }),
  updated_at: t.String({ format: "date-time" }),
});
export type McpServer = Static<typeof McpServer>;

const changeable = t.Partial(t.Object({ ...fields, description: orNull(fields.description) }));

export const McpCreate = t.Object({
  id: t.String({ pattern: SLUG.source }),
  ...changeable.properties,
  transport: fields.transport,
});
export type McpCreate = Static<typeof McpCreate>;
export const McpUpdate = changeable;
export type McpUpdate = Static<typeof McpUpdate>;

export const StatusUpdate = t.Object({
  status: ServerStatus,
  error: t.Optional(orNull(Text(2_000), { description: "Why, with the status `error`." })),
});
export type StatusUpdate = Static<typeof StatusUpdate>;

export const ToolsUpdate = t.Object({
  tools: t.Optional(
    t.Array(
      t.Object({
        name: t.String({ maxLength: 256 }),
        description: t.Optional(Text(LIMITS.mcpToolDescriptionCharacters)),
        input_schema: t.Record(t.String(), t.Unknown()),
      }),
      { maxItems: LIMITS.mcpToolsPerServer, description: "What an engine found. Left out: the server is asked." },
    ),
  ),
});
export type ToolsUpdate = Static<typeof ToolsUpdate>;

export const Approval = t.Object({
  tools: t.Optional(
    t.Array(
      t.Object({
        name: t.String({ maxLength: 256 }),
        hash: t.Optional(t.String({ maxLength: 64, description: "Approve it only if it still has this hash." })),
      }),
      { maxItems: LIMITS.mcpToolsPerServer, description: "Left out: every tool that waits." },
    ),
  ),
});
export type Approval = Static<typeof Approval>;

const Configured = t.Object({
  command: t.Optional(t.String()),
  args: t.Optional(t.Array(t.String())),
  env: t.Optional(t.Record(t.String(), t.String())),
  type: t.Optional(t.String()),
  url: t.Optional(t.String()),
  headers: t.Optional(t.Record(t.String(), t.String())),
  image: t.Optional(t.String()),
});
export const MergedConfig = t.Object({ mcpServers: t.Record(t.String(), Configured) });
export type MergedConfig = Static<typeof MergedConfig>;

export const ImportBody = t.Object({
  config: t.Record(t.String(), t.Unknown(), {
    description: "A file with `mcpServers` (or `servers`), or a `server.json` of the MCP registry.",
  }),
  image: t.Optional(
    t.String({ minLength: 1, maxLength: 512, description: "Container image of the stdio servers among them." }),
  ),
});
export type ImportBody = Static<typeof ImportBody>;

export const Imported = t.Object({
  created: t.Array(McpServer, { description: "All of them switched off." }),
  left_out: t.Array(t.Object({ name: t.String(), reason: t.String() })),
});
export type Imported = Static<typeof Imported>;

export const Authorization = t.Object({
  authorization_url: t.String({ description: "To be opened in a browser; the answer comes back to this server." }),
  expires_in: t.Integer({ description: "Seconds." }),
});

export const ClientDocument = t.Object({
  client_id: t.String(),
  client_uri: t.String(),
  client_name: t.String(),
  application_type: t.String(),
  redirect_uris: t.Array(t.String()),
  grant_types: t.Array(t.String()),
  response_types: t.Array(t.String()),
  token_endpoint_auth_method: t.String(),
});
export type ClientDocument = Static<typeof ClientDocument>;
