/**
 * `/v1/users` and `/v1/admin/users`. Administrators manage all users; others read and edit their own account, and other
 * accounts do not exist for them.
 */

import { Type as t } from "@sinclair/typebox";
import { listOf, PageQuery, pageOf } from "../../http/list.ts";
import { defineOperation, tagOperations } from "../../http/operation.ts";
import { queryBoolean } from "../../http/schema.ts";
import { ChangedUser, ManagedUser, Role, User, UserCreate, UserUpdate } from "./model.ts";
import type { Users } from "./service.ts";

const filter = { ...PageQuery, role: t.Optional(Role), active: t.Optional(queryBoolean()) };
const search = t.Optional(
  t.String({ maxLength: 256, description: "Part of an address or a name, in upper or lower case." }),
);

export function userRoutes(users: Users) {
  return tagOperations("users", [
    defineOperation("listUsers", "GET /v1/users", {
      access: "admin",
      query: t.Object(filter),
      answer: listOf(User),
      summary: "List users",
      handler: ({ query }) => users.list(pageOf(query), query),
    }),
    defineOperation("listUserAccounts", "GET /v1/admin/users", {
      access: "admin",
      query: t.Object({ ...filter, search }),
      answer: listOf(ManagedUser),
      tag: "admin",
      summary: "List users with their log-in sessions, keys and sign-on providers",
      handler: ({ query }) => users.manage(pageOf(query), query),
    }),
    defineOperation("createUser", "POST /v1/users", {
      access: "admin",
      scope: "accounts",
      body: UserCreate,
      answer: { 201: User },
      summary: "Create a user; without a password, the user signs on through a provider",
      handler: async ({ body, caller, answer }) => {
        const { commit } = await users.prepare(body, caller);
        return answer.created("/v1/users/:id", commit);
      },
    }),
    defineOperation("getUser", "GET /v1/users/:id", {
      access: "user",
      answer: User,
      summary: "Get a user; only administrators see others",
      handler: ({ params, caller }) => users.get(params.id, caller),
    }),
    defineOperation("updateUser", "PUT /v1/users/:id", {
      access: "user",
      scope: "accounts",
      body: UserUpdate,
      answer: ChangedUser,
      summary: "Change a user; on your own account, the name and, with the current one, the password",
      handler: ({ params, body, caller }) => users.update(params.id, body, caller),
    }),
    defineOperation("deleteUser", "DELETE /v1/users/:id", {
      access: "user",
      scope: "accounts",
      answer: 204,
      summary: "Delete a user, or your own account",
      description:
        "The user's keys and sessions end. What the user owned passes to the administrator who deletes the account, or else to the first administrator.",
      handler: ({ params, caller }) => users.remove(params.id, caller),
    }),
  ]);
}
