/** Who may have the server push to a repository's branches. */
import { expect, test } from "bun:test";
import { OPEN_PROJECTS } from "../../testing/open-projects.ts";
import type { WorkBranches } from "../projects/branches.ts";
import { createMerging, type MergingDeps } from "./merging.ts";

const row = { id: "run_1", kind: "run", project_id: "proj_1", status: "succeeded", title: "T" };

test("only an administrator merges what is then pushed to a branch of the project", async () => {
  const asked: string[] = [];
  const branches = new Proxy({} as WorkBranches, { get: (_, name) => () => void asked.push(String(name)) });
  const merging = createMerging({ reviewed: { find: () => row }, branches } as unknown as MergingDeps);
  const user = { kind: "user", admin: false, projects: OPEN_PROJECTS, userId: "usr_1" } as const;
  await expect(merging.merge("run_1", { push: true }, user)).rejects.toThrow("Only an administrator");
  expect(asked).toEqual([]);
});
