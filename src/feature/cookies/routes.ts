/** /v1/browser/cookies. A user's own sets only; values never come back. */
import { Type as t } from "@sinclair/typebox";
import { Elysia, t as elysia } from "elysia";
import { badRequest, Problem } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import type { Base } from "../../http/base.ts";
import { listOf, PageQuery, pageOf } from "../../http/list.ts";
import { CookieSet, CookieSetName } from "./model.ts";
import { readNetscapeCookies } from "./netscape.ts";
import type { Cookies } from "./service.ts";

const tags = ["cookies"];
const SetPath = t.Object({ id: t.String() });
const GrantPath = t.Object({ agent_id: t.String(), id: t.String() });
const locationOf = ({ id }: CookieSet) => `/v1/browser/cookies/${id}`;

/** @throws Problem 413 too large, 400 not text. */
async function textOf(file: File): Promise<string> {
  if (file.size > LIMITS.cookieFileBytes)
    throw new Problem(413, "too_large", `A cookie file holds at most ${LIMITS.cookieFileBytes} bytes.`);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
  } catch {
    throw badRequest("The file is not UTF-8 text. Export the cookies in Netscape format.", "not_text");
  }
}

export function cookieRoutes(base: Base, cookies: Cookies) {
  return new Elysia({ name: "skep/cookies" })
    .use(base)
    .get("/v1/browser/cookies", ({ query, caller }) => cookies.list(pageOf(query), caller), {
      access: "user",
      query: t.Object(PageQuery),
      response: { 200: listOf(CookieSet) },
      detail: { tags, summary: "List your cookie sets" },
    })
    .post(
      "/v1/browser/cookies",
      async ({ body, caller, answer }) => {
        const read = await readNetscapeCookies(await textOf(body.file));
        return answer.created(locationOf, () => cookies.create(body.name, read, caller));
      },
      {
        access: "user",
        type: "multipart/form-data",
        body: t.Object({ name: CookieSetName, file: elysia.File({ description: "Netscape format, 1 MiB at most." }) }),
        response: { 201: CookieSet },
        detail: { tags, summary: "Upload a cookie file" },
      },
    )
    .get("/v1/browser/cookies/:id", ({ params, caller }) => cookies.get(params.id, caller), {
      access: "user",
      params: SetPath,
      response: { 200: CookieSet },
      detail: { tags, summary: "One cookie set" },
    })
    .delete(
      "/v1/browser/cookies/:id",
      ({ params, caller, set }) => {
        cookies.remove(params.id, caller);
        set.status = 204;
      },
      {
        access: "user",
        params: SetPath,
        response: { 204: t.Void() },
        detail: { tags, summary: "Delete a cookie set and its grants" },
      },
    )
    .get(
      "/v1/browser/cookies/agents/:agent_id",
      ({ params, query, caller }) => cookies.grantedTo(params.agent_id, pageOf(query), caller),
      {
        access: "user",
        params: t.Object({ agent_id: t.String() }),
        query: t.Object(PageQuery),
        response: { 200: listOf(CookieSet) },
        detail: { tags, summary: "Your cookie sets that an agent was granted" },
      },
    )
    .post(
      "/v1/browser/cookies/agents/:agent_id/:id/grant",
      ({ params, caller }) => cookies.grant(params.id, params.agent_id, caller),
      {
        access: "user",
        params: GrantPath,
        response: { 200: CookieSet },
        detail: { tags, summary: "Grant a cookie set to an agent, for what it does for you" },
      },
    )
    .delete(
      "/v1/browser/cookies/agents/:agent_id/:id",
      ({ params, caller, set }) => {
        cookies.revoke(params.id, params.agent_id, caller);
        set.status = 204;
      },
      {
        access: "user",
        params: GrantPath,
        response: { 204: t.Void() },
        detail: { tags, summary: "Revoke an agent's grant of a cookie set" },
      },
    );
}
