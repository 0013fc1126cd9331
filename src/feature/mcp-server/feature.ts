import { memoize } from "../../core/lazy.ts";
import { toolSchemas } from "../../graph/serve/tools.ts";
import { type Core, defineFeature } from "../feature.ts";
import type { KnowledgeGraph } from "../knowledge-graph/service.ts";
import { apiTools } from "./api-tools.ts";
import { createEndpoint } from "./endpoint.ts";
import { createMissingInputs } from "./missing-inputs.ts";
import { OPERATIONS } from "./operations.ts";
import { mcpServerRoutes } from "./routes.ts";
import { createServerOf, type OwnTool } from "./server.ts";

type Needs = Core & { knowledgeGraph: Pick<KnowledgeGraph, "toolText"> };

export const mcpServer = defineFeature("mcpServer", ({ log, keys, contributions, knowledgeGraph }: Needs) => {
  const tools = memoize(() => apiTools(contributions.apiDocument(), OPERATIONS));
  const own = memoize(() => graphTools(knowledgeGraph.toolText));
  const build = createServerOf({
    tools,
    own,
    missingInputs: createMissingInputs(keys.signingKey),
    call: (caller, request) => contributions.call(caller, request),
  });
  const endpoint = createEndpoint(build, (err) => log.debug({ err }, "a request of an MCP client was refused"));
  return { routes: () => mcpServerRoutes(endpoint), stop: endpoint.close };
});

/** The four code graph tools, with the same answers that agents get. */
const graphTools = (ask: KnowledgeGraph["toolText"]): OwnTool[] =>
  toolSchemas(true).map(({ name, description, input }) => ({
    name,
    description,
    inputSchema: input,
    run: ({ projectId, ...args }, asker) =>
      ask({ asker }, typeof projectId === "string" ? projectId : undefined, name, args),
  }));
