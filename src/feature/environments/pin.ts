/**
 * Reads a Dockerfile and the files that it copies, as they are at a commit. A person accepts exactly this, and only
 * this is built.
 */
import { digestOf, selectFiles } from "../../core/dockerfile/context.ts";
import { DockerfileFault } from "../../core/dockerfile/lines.ts";
import { planBuild } from "../../core/dockerfile/plan.ts";
import { isProblem } from "../../core/errors.ts";
import { hashJson } from "../../core/json-hash.ts";
import type { ProjectSources } from "../projects/source.ts";
import type { AcceptedDockerfile, EnvironmentBuild } from "./model.ts";

/** How many projects' Dockerfiles are kept in memory. */
const KEPT = 50;

/** A Dockerfile as it was read, or a sentence that says why it cannot be built. */
export type Pinned = { dockerfile: AcceptedDockerfile } | { fault: string };

export function createPins({ context }: Pick<ProjectSources, "context">) {
  const known = new Map<string, Promise<Pinned>>();
  async function read(projectId: string, commit: string, build: EnvironmentBuild): Promise<Pinned> {
    try {
      const { text, files, isIgnored } = await context(projectId, commit, build);
      const { steps, image } = planBuild(text, build.args);
      const { digest, count } = digestOf((await selectFiles(files, steps, isIgnored)).values());
      return { dockerfile: { text, image, files: count, digest, commit } };
    } catch (error) {
      if (error instanceof DockerfileFault)
        return { fault: `${build.dockerfile}, line ${error.line}: ${error.reason}` };
      if (isProblem(error) && error.code === "source_too_large")
        return { fault: `${build.dockerfile}: ${error.detail}` };
      throw error;
    }
  }
  return {
    /** The Dockerfile at that commit. Each page of a project asks for it, so the result is kept. */
    async at(projectId: string, commit: string, build: EnvironmentBuild): Promise<Pinned> {
      const key = `${projectId}/${commit}/${hashJson(build)}`;
      const reading = known.get(key) ?? read(projectId, commit, build);
      known.delete(key);
      known.set(key, reading);
      const [oldest] = known.keys();
      if (known.size > KEPT && oldest !== undefined) known.delete(oldest);
      try {
        return await reading;
      } catch (error) {
        known.delete(key);
        throw error;
      }
    },
  };
}
