/**
 * /openapi.json and /docs: the description of the API, and a page to try it. Both come from the executable, without a
 * CDN.
 */

import { Type as t } from "@sinclair/typebox";
import { file } from "bun";
import cssPath from "swagger-ui-dist/swagger-ui.css" with { type: "file" };
import scriptPath from "swagger-ui-dist/swagger-ui-bundle.js" with { type: "file" };
import { defineOperation, tagOperations } from "../../http/operation.ts";

const PAGE = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Skep API</title><link rel="stylesheet" href="docs/style.css"></head>
<body><div id="page"></div><script src="docs/script.js"></script><script src="docs/start.js"></script></body>
</html>`;
const START = `SwaggerUIBundle({ url: "openapi.json", dom_id: "#page", deepLinking: true, validatorUrl: null, persistAuthorization: false });`;
// The page's library sets style attributes, so these are allowed. Scripts may come only from this server.
const CSP =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; script-src 'self'; frame-ancestors 'none'; base-uri 'none'";

const toResponse = (body: string | Blob, type: string) =>
  new Response(body, {
    headers: { "Content-Type": type, "Content-Security-Policy": CSP, "Cache-Control": "no-cache" },
  });

export function docsRoutes({ document }: { document(): Record<string, unknown> }) {
  const definePage = (name: string, route: `GET /docs${string}`, handler: () => Response) =>
    defineOperation(name, route, { access: "public", hidden: true, handler });
  return tagOperations("docs", [
    defineOperation("getOpenapiJson", "GET /openapi.json", {
      access: "public",
      answer: t.Record(t.String(), t.Unknown()),
      summary: "Get this API as an OpenAPI 3.1 document",
      handler: () => document(),
    }),
    definePage("getApiPage", "GET /docs", () => toResponse(PAGE, "text/html; charset=utf-8")),
    definePage("getApiPageStyle", "GET /docs/style.css", () => toResponse(file(cssPath), "text/css; charset=utf-8")),
    definePage("getApiPageScript", "GET /docs/script.js", () =>
      toResponse(file(scriptPath), "text/javascript; charset=utf-8"),
    ),
    definePage("getApiPageStart", "GET /docs/start.js", () => toResponse(START, "text/javascript; charset=utf-8")),
  ]);
}
