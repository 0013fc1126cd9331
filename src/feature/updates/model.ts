/** The version of this build, and whether there is a newer one. */
import { type Static, Type as t } from "@sinclair/typebox";
import { orNull, Time } from "../../core/schema.ts";

export const Version = t.Object({
  version: t.String(),
  api_version: t.Literal("v1"),
  commit: t.String(),
  built_at: orNull(Time),
  runtime: t.String(),
  platform: t.String(),
});
export type Version = Static<typeof Version>;

export const UpdateCheck = t.Object({
  checked: t.Boolean({ description: "Whether the check was made. False if nothing was contacted; `reason` says why." }),
  current: t.String(),
  latest: t.Optional(t.String()),
  update_available: t.Boolean(),
  url: t.Optional(t.String({ description: "Address of the release notes." })),
  released_at: t.Optional(Time),
  checked_at: t.Optional(t.String({ format: "date-time" })),
  reason: t.Optional(t.String()),
});
export type UpdateCheck = Static<typeof UpdateCheck>;
