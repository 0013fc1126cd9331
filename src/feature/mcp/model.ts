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
    description: `${about} \`\${secret:NAME}\` stands for a stored secret. Answers mask the values; a masked value that is sent back unchanged keeps the stored one.`,
  });

export const OAuthClient = t.Object({
  client_id: t.String({ minLength: 1, maxLength: 2_000 }),
  client_secret: t.Optional(
    orNull(Text(LIMITS.secretValueBytes), {
      description: `\`\${secret:NAME}\` stands for a stored secret. Answers mask it; a masked value that is sent back unchanged keeps the stored one.`,
    }),
  ),
  issuer: t.String({
    minLength: 1,
    maxLength: 2_000,
    description: "The authorization server at which this client is registered. The secret is sent to no other server.",
  }),
});
export type OAuthClient = Static<typeof OAuthClient>;

const fields = {
  name: t.String({ minLength: 1, maxLength: LIMITS.nameCharacters }),
  description: Text(4_000),
  transport: Transport,
  command: orNull(t.String({ minLength: 1, maxLength: 4_096 }), {
    description: "Program that a stdio server runs; not a shell line. Null runs what the image starts.",
  }),
  args: t.Array(Text(32_000), { maxItems: 200 }),
  env: Values("Environment variables of a stdio server, in addition to HOME, PATH and LANG."),
  url: orNull(Text(2_000), { description: "Address of an http or sse server." }),
  headers: Values("Headers that are sent with each request to an http or sse server."),
  image: orNull(ImageName, {
    description:
      "Container image of a stdio server. Null runs the server on the host, where ALLOW_HOST_SHELL allows that.",
  }),
  network: t.Union([t.Literal("none"), t.Literal("bridge")], {
    description: "Network of the stdio server's container.",
  }),
  memory_mb: t.Integer({
    minimum: 16,
    maximum: 65_536,
    description: "Memory of the stdio server's container, in MiB.",
  }),
  timeout_ms: t.Integer({
    minimum: 100,
    maximum: LIMITS.mcpTimeoutMaxMs,
    description: "Time limit of one call, in milliseconds.",
  }),
  oauth: orNull(OAuthClient, {
    description:
      "OAuth client that was registered by hand for the login to this server. Null lets Skep register itself.",
  }),
  elicitation: t.Union([t.Literal("off"), t.Literal("defaults")], {
    description:
      "What happens when the server asks for a form during a call. `off`: Skep declares that it cannot answer forms. `defaults`: Skep submits the form's default values if they cover every required field, and declines the form otherwise.",
  }),
  enabled: t.Boolean({ description: "Whether the server is switched on." }),
  agents: t.Array(t.String({ minLength: 1, maxLength: 64 }), {
    maxItems: 1_000,
    description: "Ids of the agents that may use the server's tools; `*` is every agent.",
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
    description:
      "JSON Schema of the tool's structured answers, which are validated against it before an agent reads them.",
  }),
  agent_tool: t.String({ description: "Name under which agents call the tool." }),
  hash: t.String({ description: "Hash of the definition that the server offers now." }),
  state: oneOf("ready", "new", "changed", "unusable", "gone"),
  problem: orNull(t.String(), { description: "Why the tool is unusable; null if it is usable." }),
  approved: orNull(ToolDefinition, {
    description: "The definition that was approved, if the server has changed it since.",
  }),
});
export type McpTool = Static<typeof McpTool>;

export const McpServer = t.Object({
  id: t.String(),
  ...fields,
  status: ServerStatus,
  error: orNull(t.String(), { description: "Why the server does not run." }),
  needs_authorization: t.Boolean({
    description: "Whether somebody has to log in to the server before it can run: POST …/authorize.",
  }),
  authorized: t.Boolean({ description: "Whether Skep holds tokens of the server's authorization server." }),
  protocol: orNull(t.String(), {
    description: "Revision of the Model Context Protocol that is spoken with the server.",
  }),
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
  error: t.Optional(orNull(Text(2_000), { description: "Reason for the status `error`." })),
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
      {
        maxItems: LIMITS.mcpToolsPerServer,
        description: "Tools that an engine found. If left out, Skep asks the server.",
      },
    ),
  ),
});
export type ToolsUpdate = Static<typeof ToolsUpdate>;

export const Approval = t.Object({
  tools: t.Optional(
    t.Array(
      t.Object({
        name: t.String({ maxLength: 256 }),
        hash: t.Optional(t.String({ maxLength: 64, description: "Approve the tool only if it still has this hash." })),
      }),
      {
        maxItems: LIMITS.mcpToolsPerServer,
        description: "Tools to approve. If left out, every tool that waits is approved.",
      },
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
    t.String({
      minLength: 1,
      maxLength: 512,
      description: "Container image for the stdio servers in the file that name none.",
    }),
  ),
});
export type ImportBody = Static<typeof ImportBody>;

export const Imported = t.Object({
  created: t.Array(McpServer, { description: "Tool servers that were created, all switched off." }),
  left_out: t.Array(t.Object({ name: t.String(), reason: t.String() })),
});
export type Imported = Static<typeof Imported>;

export const Authorization = t.Object({
  authorization_url: t.String({
    description: "Address to open in a browser. After the login, the browser returns to this server.",
  }),
  expires_in: t.Integer({ description: "Seconds until the login expires." }),
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
