/** The set-up of a project's code, and whether the project's check passes in its result. */
import { type Static, Type as t } from "@sinclair/typebox";
import { oneOf, orNull, Time } from "../../core/schema.ts";
import { Job } from "../jobs/model.ts";

export const ProjectSetup = t.Object(
  {
    project_id: t.String(),
    state: oneOf("none", "unsupported", "needed", "running", "ready", "failed"),
    detail: t.String({ description: "Sentence that explains the state." }),
    job: orNull(Job, { description: "Job of the set-up that is under way." }),
    last: orNull(
      t.Object({
        state: oneOf("ready", "failed"),
        image: orNull(t.String({ description: "Image from which sandboxes of the project's work start." })),
        image_bytes: t.Integer(),
        commit: t.String(),
        exit_code: orNull(
          t.Integer({ description: "Exit code of the set-up; null if it took too long or wrote too much." }),
        ),
        log: t.String({ description: "Beginning and end of the log." }),
        seconds: t.Number(),
        made_at: Time,
        used_at: Time,
      }),
      { description: "Last set-up of the environment in effect." },
    ),
    check: orNull(
      t.Object({
        command: t.String(),
        passed: t.Boolean(),
        exit_code: orNull(t.Integer({ description: "Exit code of the check; null if it took too long." })),
        log: t.String(),
        commit: t.String(),
        checked_at: Time,
      }),
      { description: "Result of the project's check on its own branch, before any agent changed something." },
    ),
  },
  { title: "ProjectSetup" },
);
export type ProjectSetup = Static<typeof ProjectSetup>;

export const SetupStart = t.Object({
  again: t.Optional(
    t.Boolean({ description: "Whether to set up again although nothing changed since the last time." }),
  ),
});
export type SetupStart = Static<typeof SetupStart>;

/** Why this server can neither run set-ups nor build Dockerfiles, and what to do instead; undefined when it can. */
export function whyNoSetUps(
  { sandbox, dockerHosts }: { sandbox: string; dockerHosts: { readonly length: number } },
  hasEngine: boolean,
): string | undefined {
  if (sandbox === "kubernetes") return "In a cluster nothing is set up: put what the code needs into the image.";
  if (dockerHosts.length > 0 && sandbox !== "process")
    return "With DOCKER_HOSTS nothing is set up: put what the code needs into the image, on each host.";
  return hasEngine ? undefined : "Agents do not work in containers here, so nothing is set up.";
}
