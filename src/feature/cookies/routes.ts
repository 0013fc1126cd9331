/** /v1/browser/cookies. Users see only their own sets, and the values never come back. */

import { Type as t } from "@sinclair/typebox";
import { badRequest, Problem } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import { pageOf, pagesOf } from "../../http/list.ts";
import { defineOperation, tagOperations } from "../../http/operation.ts";
import { formFile } from "../../http/schema.ts";
import { CookieSet, CookieSetName } from "./model.ts";
import { readNetscapeCookies } from "./netscape.ts";
import type { Cookies } from "./service.ts";

const LOCATION = "/v1/browser/cookies/:id";

/** @throws Problem 413 the file is too large, 400 it is not text. */
async function textOf(file: Blob): Promise<string> {
  if (file.size > LIMITS.cookieFileBytes)
    throw new Problem(413, "too_large", `A cookie file holds at most ${LIMITS.cookieFileBytes} bytes.`);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
  } catch {
    throw badRequest("The file is not UTF-8 text. Export the cookies in Netscape format.", "not_text");
  }
}

export function cookieRoutes(cookies: Cookies) {
  return tagOperations("cookies", [
    defineOperation("listBrowserCookies", "GET /v1/browser/cookies", {
      access: "user",
      credential: true,
      ...pagesOf(CookieSet),
      summary: "List your cookie sets",
      handler: ({ query, caller }) => cookies.list(pageOf(query), caller),
    }),
    defineOperation("createBrowserCooky", "POST /v1/browser/cookies", {
      access: "user",
      upload: true,
      body: t.Object({
        name: CookieSetName,
        file: formFile({ description: "Cookie file in Netscape format; at most 1 MiB." }),
      }),
      answer: { 201: CookieSet },
      summary: "Upload a cookie file",
      handler: async ({ body, caller, answer }) => {
        const read = await readNetscapeCookies(await textOf(body.file));
        return answer.created(LOCATION, () => cookies.create(body.name, read, caller));
      },
    }),
    defineOperation("getBrowserCooky", "GET /v1/browser/cookies/:id", {
      access: "user",
      credential: true,
      answer: CookieSet,
      summary: "Get a cookie set",
      handler: ({ params, caller }) => cookies.get(params.id, caller),
    }),
    defineOperation("deleteBrowserCooky", "DELETE /v1/browser/cookies/:id", {
      access: "user",
      answer: 204,
      summary: "Delete a cookie set and its grants",
      handler: ({ params, caller }) => cookies.remove(params.id, caller),
    }),
    defineOperation("listBrowserCookiesAgents", "GET /v1/browser/cookies/agents/:agent_id", {
      access: "user",
      credential: true,
      ...pagesOf(CookieSet),
      summary: "List those of your cookie sets that an agent may use",
      handler: ({ params, query, caller }) => cookies.grantedTo(params.agent_id, pageOf(query), caller),
    }),
    defineOperation("grantBrowserCookiesAgent", "POST /v1/browser/cookies/agents/:agent_id/:id/grant", {
      access: "user",
      answer: CookieSet,
      summary: "Let an agent use a cookie set in its work for you",
      handler: ({ params, caller }) => cookies.grant(params.id, params.agent_id, caller),
    }),
    defineOperation("deleteBrowserCookiesAgent", "DELETE /v1/browser/cookies/agents/:agent_id/:id", {
      access: "user",
      answer: 204,
      summary: "Revoke an agent's access to a cookie set",
      handler: ({ params, caller }) => cookies.revoke(params.id, params.agent_id, caller),
    }),
  ]);
}
