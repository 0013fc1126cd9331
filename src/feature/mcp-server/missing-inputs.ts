/**
 * Asks a person for inputs that a pipeline needs and the model did not give, if the client can ask. The state that
 * travels through the client is signed, bound to the user and the tool, and valid for ten minutes.
 */

import { createHash, hkdfSync } from "node:crypto";
import type * as Library from "@modelcontextprotocol/server";
import { membersOf } from "../../core/is-object.ts";
import type { Caller } from "../../http/caller.ts";
import type { ToolAnswer } from "./server.ts";

export type Missing = { name: string; message: string }[];

interface State {
  tool: "start_run";
  /** SHA-256 of the arguments that the question was about. */
  args: string;
}

const TTL_SECONDS = 600;
const QUESTION = "inputs";

export type MissingInputs = ReturnType<typeof createMissingInputs>;

/** @param secret the key material from which the signing key is derived. */
export function createMissingInputs(secret: () => Uint8Array) {
  const deriveKey = () => new Uint8Array(hkdfSync("sha256", secret(), "", "skep/mcp-request-state", 32));
  return {
    stateFor(library: typeof Library, server: () => Library.Server, { kind, userId, apiKeyId, sessionId }: Caller) {
      const bind = () => [kind, userId, apiKeyId, sessionId].join("\0");
      const codec = library.createRequestStateCodec<State>({ key: deriveKey(), ttlSeconds: TTL_SECONDS, bind });
      return {
        verify: codec.verify,
        /**
         * The arguments, completed by the person's answer if this request answers our own question about the same
         * arguments.
         */
        complete(args: Record<string, unknown>, ctx: Library.ServerContext): Record<string, unknown> {
          const given = library.acceptedContent(ctx.mcpReq.inputResponses, QUESTION);
          if (given === undefined) return args;
          const state = ctx.mcpReq.requestState<State>();
          if (state?.tool !== "start_run" || state.args !== digestOf(args))
            throw new library.ProtocolError(library.INVALID_PARAMS, "These inputs answer another question.");
          const texts = Object.entries(given).map(([name, value]) => [name, String(value)]);
          return { ...args, inputs: { ...membersOf(args["inputs"]), ...Object.fromEntries(texts) } };
        },
        /** What to ask a person; undefined when nothing is missing or the client cannot ask. */
        async question({ missing }: ToolAnswer, args: Record<string, unknown>, ctx: Library.ServerContext) {
          if (!missing || ctx.mcpReq.inputResponses !== undefined || !canAsk(library, server, ctx)) return undefined;
          const properties = Object.fromEntries(
            missing.map(({ name, message }) => [name, { type: "string" as const, title: name, description: message }]),
          );
          return library.inputRequired({
            inputRequests: {
              [QUESTION]: library.inputRequired.elicit({
                message: `The pipeline ${String(args["pipeline_id"])} needs: ${missing.map(({ name }) => name).join(", ")}.`,
                requestedSchema: { type: "object", properties, required: missing.map(({ name }) => name) },
              }),
            },
            requestState: await codec.mint({ tool: "start_run", args: digestOf(args) }, ctx),
          });
        },
      };
    },
  };
}

const digestOf = (args: object): string => createHash("sha256").update(JSON.stringify(args)).digest("hex");

/**
 * Whether the client can ask its person. A client of the newer revision says so with each request, an older one when it
 * initializes.
 */
function canAsk(library: typeof Library, server: () => Library.Server, { mcpReq }: Library.ServerContext): boolean {
  const envelope = membersOf(mcpReq.envelope);
  const capabilities = envelope[library.CLIENT_CAPABILITIES_META_KEY] ?? server().getClientCapabilities();
  return membersOf(capabilities)["elicitation"] !== undefined;
}
