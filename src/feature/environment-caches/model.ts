/** The caches of a project, as the API shows them. */
import { type Static, Type as t } from "@sinclair/typebox";
import { oneOf, orNull, Time } from "../../core/schema.ts";

export const ProjectCaches = t.Object(
  {
    project_id: t.String(),
    paths: t.Array(t.String(), { description: "Folders of the home directory that the accepted environment keeps." }),
    unavailable: orNull(t.String({ description: "Why this server keeps no caches; `null` if it does." })),
    items: t.Array(
      t.Object({
        of: oneOf("person", "set-up"),
        user_id: orNull(
          t.String({
            description: "User whose cache it is; `null` for the set-up's cache, and on a server without accounts.",
          }),
        ),
        user_name: orNull(t.String()),
        bytes: t.Integer(),
        made_at: orNull(Time),
      }),
      { description: "Your own caches. An administrator sees all caches, including those of set-ups." },
    ),
  },
  { title: "ProjectCaches" },
);
export type ProjectCaches = Static<typeof ProjectCaches>;

export const CachesCleared = t.Object(
  {
    removed: t.Integer(),
    in_use: t.Integer({
      description:
        "Number of caches that were not removed because a sandbox uses them. Clear them when its work has ended.",
    }),
  },
  { title: "CachesCleared" },
);
export type CachesCleared = Static<typeof CachesCleared>;
