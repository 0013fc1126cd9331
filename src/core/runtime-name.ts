/** Names of container runtimes, as the container engine knows them. */
import { Type as t } from "@sinclair/typebox";

export const RuntimeName = t.String({
  pattern: "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$",
  description:
    "Container runtime that the container engine knows, such as runsc (gVisor) or kata; by default the engine's own.",
});
