/** /v1/storage: what a user has stored. */
import { Type as t } from "@sinclair/typebox";
import { listOf, PageQuery, pageOf } from "../../http/list.ts";
import { defineOperation, tagOperations } from "../../http/operation.ts";
import { Storage, Workspace } from "./model.ts";
import type { StorageService } from "./service.ts";

const who = {
  user_id: t.Optional(t.String({ maxLength: 64, description: "Id of another user. Administrators only." })),
};

export const storageRoutes = (storage: StorageService) =>
  tagOperations("users", [
    defineOperation("getStorage", "GET /v1/storage", {
      access: "user",
      query: t.Object(who),
      answer: Storage,
      summary: "Get the size of your stored data and its limits",
      handler: ({ query, caller }) => storage.of(query.user_id, caller),
    }),
    defineOperation("listWorkspaces", "GET /v1/storage/workspaces", {
      access: "user",
      query: t.Object({ ...PageQuery, ...who }),
      answer: listOf(Workspace),
      summary: "List the folders of your runs and chats, largest first",
      handler: ({ query, caller }) => storage.workspaces(query.user_id, pageOf(query), caller),
    }),
  ]);
