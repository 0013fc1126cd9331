/** Who may have the server push to a repository's branches. */
import { expect, test } from "bun:test";
import type { RunBranches } from "../projects/branches.ts";
import type { RunRow } from "../runs/store.ts";
import { createMerging, type MergingDeps } from "./merging.ts";

const row = { id: "run_1", project_id: "proj_1", status: "succeeded", task_description: "T" } as RunRow;

test("only an administrator merges what is then pushed to a branch of the project", async () => {
  const asked: string[] = [];
  const branches = new Proxy({} as RunBranches, { get: (_, name) => () => void asked.push(String(name)) });
  const merging = createMerging({ views: { rowFor: () => row }, branches } as unknown as MergingDeps);
  const user = { kind: "user", admin: false, userId: "usr_1" } as const;
  await expect(merging.merge("run_1", { push: true }, user)).rejects.toThrow("Only an administrator");
  expect(asked).toEqual([]);
});
