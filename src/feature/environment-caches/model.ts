/** What sandboxes of a project's work keep of their homes. */
import { type Static, Type as t } from "@sinclair/typebox";
import { orNull, Time } from "../../core/schema.ts";

export const ProjectCaches = t.Object(
  {
    project_id: t.String(),
    paths: t.Array(t.String(), { description: "Folders of the home that the accepted environment keeps." }),
    unavailable: orNull(t.String({ description: "Why nothing is kept on this server." })),
    items: t.Array(
      t.Object({
        user_id: orNull(t.String({ description: "Whose; null on a server without accounts." })),
        bytes: t.Integer(),
        made_at: orNull(Time),
      }),
      { description: "Your own; an administrator sees all." },
    ),
  },
  { title: "ProjectCaches" },
);
export type ProjectCaches = Static<typeof ProjectCaches>;

export const CachesCleared = t.Object(
  {
    removed: t.Integer(),
    in_use: t.Integer({ description: "Those that a sandbox has now: they stay. Clear them when its work has ended." }),
  },
  { title: "CachesCleared" },
);
export type CachesCleared = Static<typeof CachesCleared>;
