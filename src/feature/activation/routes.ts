/** POST /v1/admin/activate. */

import type { Caller } from "../../http/caller.ts";
import { defineOperation, tagOperations } from "../../http/operation.ts";

export function activationRoutes(activate: (caller: Caller) => void) {
  return tagOperations("admin", [
    defineOperation("activateInstance", "POST /v1/admin/activate", {
      access: "admin",
      answer: 204,
      summary: "Activate a restored or copied instance, which starts and sends nothing until then",
      handler: ({ caller }) => activate(caller),
    }),
  ]);
}
