/** Routes for the login to a tool server: the redirect to its authorization server, and the way back. */

import { Type as t } from "@sinclair/typebox";
import { isProblem } from "../../core/errors.ts";
import { defineOperation, tagOperations } from "../../http/operation.ts";
import type { Site } from "../../http/site.ts";
import type { Here, Logins } from "./logins.ts";
import { Authorization, ClientDocument } from "./model.ts";

const CALLBACK = "/v1/mcp/oauth/callback";
const IdPath = t.Object({ id: t.String({ maxLength: 64 }) });

const CLIENT = "/v1/mcp/oauth/client.json";

/**
 * Addresses of this server for authorization servers. They fetch the client document only over https, from an address
 * that they can reach.
 */
const hereOf = (base: string): Here => ({
  redirectUri: `${base}${CALLBACK}`,
  clientMetadataUrl: base.startsWith("https://") ? `${base}${CLIENT}` : undefined,
});

interface LoginParts {
  logins: Logins;
  site: Pick<Site, "base">;
  /** How Skep describes itself to authorization servers. */
  clientMetadata(redirectUri: string): Omit<ClientDocument, "client_id" | "client_uri" | "application_type">;
}

export function loginRoutes({ logins, site, clientMetadata }: LoginParts) {
  const clientDocument = (address: string): ClientDocument => ({
    client_id: `${address}${CLIENT}`,
    client_uri: address,
    application_type: "web",
    ...clientMetadata(`${address}${CALLBACK}`),
  });
  return tagOperations("mcp", [
    defineOperation("authorizeMcpServer", "POST /v1/mcp/:id/authorize", {
      access: "admin",
      params: IdPath,
      answer: Authorization,
      summary: "Start a login to a tool server",
      handler: ({ params, caller, request }) => logins.begin(params.id, hereOf(site.base(request)), caller),
    }),
    defineOperation("deleteMcpAuthorization", "DELETE /v1/mcp/:id/authorization", {
      access: "admin",
      params: IdPath,
      answer: 204,
      summary: "Delete the tokens of a tool server's authorization server",
      handler: ({ params, caller }) => logins.forget(params.id, caller),
    }),
    defineOperation("getMcpClientDocument", `GET ${CLIENT}`, {
      access: "public",
      credential: true,
      answer: ClientDocument,
      summary: "Get Skep's client metadata for authorization servers",
      description:
        "Authorization servers that accept a metadata address as the client id use the address of this document. It must be an https address.",
      handler: ({ request }) => clientDocument(site.base(request)),
    }),
    defineOperation("finishMcpAuthorization", `GET ${CALLBACK}`, {
      access: "public",
      credential: true,
      limit: "sign-on",
      summary: "Receive the browser that returns from a login",
      description:
        "Accepts only the random state of a login that was started here within the last ten minutes. Each state works once.",
      documented: {
        responses: {
          200: {
            description: "A page that confirms the login.",
            content: { "text/html": { schema: { type: "string" } } },
          },
        },
      },
      handler: ({ request }) => arrive(logins, request),
    }),
  ]);
}

async function arrive(logins: Logins, request: Request): Promise<Response> {
  try {
    const server = await logins.finish(new URL(request.url).searchParams);
    return renderPage(`Skep is logged in to the tool server ${server}. You can close this page.`, 200);
  } catch (error) {
    if (!isProblem(error) || !request.headers.get("accept")?.includes("text/html")) throw error;
    return renderPage(error.detail, error.status);
  }
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

function renderPage(words: string, status: number): Response {
  const text = words.replace(/[&<>"]/g, (one) => ENTITIES[one] ?? one);
  const html = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Skep</title><p>${text}</p></html>`;
  return new Response(html, {
    status,
    headers: {
      "Content-Type": "text/html; charset=utf-8",
      "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
      "Cache-Control": "no-store",
    },
  });
}
