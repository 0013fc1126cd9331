/**
 * `/v1/users` and `/v1/admin/users`. Administrators manage all users; others read and edit their own account, and other
 * accounts do not exist for them.
 */

import { Type as t } from "@sinclair/typebox";
import { listOf, PageQuery, pageOf } from "../../http/list.ts";
import { operation, operations } from "../../http/operation.ts";
import { queryBoolean } from "../../http/schema.ts";
import { ChangedUser, ManagedUser, Role, User, UserCreate, UserUpdate } from "./model.ts";
import type { Users } from "./service.ts";

const filter = { ...PageQuery, role: t.Optional(Role), active: t.Optional(queryBoolean()) };
const search = t.Optional(t.String({ maxLength: 256, description: "Part of an address or a name, in any case." }));

export function userRoutes(users: Users) {
  return operations("users", [
    operation("listUsers", "GET /v1/users", {
      access: "admin",
      query: t.Object(filter),
      answer: listOf(User),
      summary: "List users",
      handler: ({ query }) => users.list(pageOf(query), query),
    }),
    operation("listUserAccounts", "GET /v1/admin/users", {
      access: "admin",
      query: t.Object({ ...filter, search }),
      answer: listOf(ManagedUser),
      tag: "admin",
      summary: "Users with their log-ins, keys and providers",
      handler: ({ query }) => users.manage(pageOf(query), query),
    }),
    operation("createUser", "POST /v1/users", {
      access: "admin",
      scope: "accounts",
      body: UserCreate,
      answer: { 201: User },
      summary: "Create a user; without a password it signs on through a provider",
      handler: async ({ body, caller, answer }) => {
        const { commit } = await users.prepare(body, caller);
        return answer.created("/v1/users/:id", commit);
      },
    }),
    operation("getUser", "GET /v1/users/:id", {
      access: "user",
      answer: User,
      summary: "One user; only administrators see others",
      handler: ({ params, caller }) => users.get(params.id, caller),
    }),
    operation("updateUser", "PUT /v1/users/:id", {
      access: "user",
      scope: "accounts",
      body: UserUpdate,
      answer: ChangedUser,
      summary: "Change a user; your own account: name, and password with the current one",
      handler: ({ params, body, caller }) => users.update(params.id, body, caller),
    }),
    operation("deleteUser", "DELETE /v1/users/:id", {
      access: "user",
      scope: "accounts",
      answer: 204,
      summary: "Delete a user, or your own account",
      description:
        "Its keys and sessions end; what it owned passes to the administrator who deletes it, else to the first one.",
      handler: ({ params, caller }) => users.remove(params.id, caller),
    }),
  ]);
}
