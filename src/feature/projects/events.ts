/** Events of projects and of the contents of their repositories. */
import { Type as t } from "@sinclair/typebox";
import { defineEvent } from "../../core/events.ts";
import { oneOf, orNull } from "../../core/schema.ts";
import { Project } from "./model.ts";

const { name, status, workspace } = Project.properties;

export const projectChanged = defineEvent(
  "project_changed",
  t.Object(
    { change: oneOf("created", "updated", "deleted", "workspace"), name, status, workspace },
    { description: "A project was created, changed or deleted, or its clone progressed." },
  ),
  { stale: ["/v1/projects"] },
);
export const workspaceChanged = defineEvent(
  "workspace_changed",
  t.Object(
    {
      cause: oneOf("clone", "commit", "fetch", "merge"),
      commit: orNull(t.String()),
      branch: orNull(t.String()),
      skipped: t.Optional(
        t.Array(
          t.Object({
            path: t.String(),
            why: oneOf("too large", "not readable", "no regular file", "unusable name"),
          }),
          { description: "The first paths that were not committed, each with the reason." },
        ),
      ),
    },
    {
      description:
        "The files of a project changed: its repository was cloned or fetched, or work on a branch was committed or merged.",
    },
  ),
  { stale: ["/v1/projects", "/v1/changes"] },
);

export const projectEvents = [projectChanged, workspaceChanged] as const;
