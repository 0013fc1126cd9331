/** /v1/users and /v1/admin/users: administrators manage all; users read and edit their own. For them another user's account does not exist. */
import { Type as t } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { Base } from "../../http/base.ts";
import { listOf, PageQuery, pageOf } from "../../http/list.ts";
import { ChangedUser, ManagedUser, Role, User, UserCreate, UserUpdate } from "./model.ts";
import type { Users } from "./service.ts";

const tags = ["users"];
const params = t.Object({ id: t.String() });
const filter = { ...PageQuery, role: t.Optional(Role), active: t.Optional(t.Boolean()) };
const search = t.Optional(t.String({ maxLength: 256, description: "Part of an address or a name, in any case." }));

export function userRoutes(base: Base, users: Users) {
  return new Elysia({ name: "skep/users" })
    .use(base)
    .get("/v1/users", ({ query }) => users.list(pageOf(query), query), {
      access: "admin",
      query: t.Object(filter),
      response: { 200: listOf(User) },
      detail: { tags, summary: "List users" },
    })
    .get("/v1/admin/users", ({ query }) => users.manage(pageOf(query), query), {
      access: "admin",
      query: t.Object({ ...filter, search }),
      response: { 200: listOf(ManagedUser) },
      detail: {
        tags: ["admin"],
        operationId: "listUserAccounts",
        summary: "Users with their log-ins, keys and providers",
      },
    })
    .post(
      "/v1/users",
      async ({ body, caller, answer }) => {
        const { commit } = await users.prepare(body, caller);
        return answer.created((user) => `/v1/users/${user.id}`, commit);
      },
      {
        access: "admin",
        body: UserCreate,
        response: { 201: User },
        detail: { tags, summary: "Create a user; without a password it signs on through a provider" },
      },
    )
    .get("/v1/users/:id", ({ params, caller }) => users.get(params.id, caller), {
      access: "user",
      params,
      response: { 200: User },
      detail: { tags, summary: "One user; only administrators see others" },
    })
    .put("/v1/users/:id", ({ params, body, caller }) => users.update(params.id, body, caller), {
      access: "user",
      params,
      body: UserUpdate,
      response: { 200: ChangedUser },
      detail: { tags, summary: "Change a user; your own account: name, and password with the current one" },
    })
    .delete(
      "/v1/users/:id",
      ({ params, caller, set }) => {
        users.remove(params.id, caller);
        set.status = 204;
      },
      {
        access: "user",
        params,
        response: { 204: t.Void() },
        detail: {
          tags,
          summary: "Delete a user, or your own account",
          description:
            "Its keys and sessions end; what it owned passes to the administrator who deletes it, else to the first one.",
        },
      },
    );
}
