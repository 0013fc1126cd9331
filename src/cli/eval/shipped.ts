/** The ten tasks that are built into the executable. */
import { type Static, Type as t } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { parse } from "yaml";
import text from "./shipped-tasks.yml" with { type: "text" };
import type { Task } from "./task-folder.ts";

const Files = t.Record(t.String(), t.String());
const Shipped = t.Array(
  t.Object({
    name: t.String(),
    instruction: t.String(),
    environment: t.Optional(Files),
    tests: Files,
    solution: Files,
  }),
);

const filesOf = (files: Static<typeof Files> = {}) =>
  Object.entries(files).map(([path, content]) => ({ path, content: Buffer.from(content).toString("base64") }));

export const shippedTasks = (): Task[] =>
  Value.Decode(Shipped, parse(text)).map(({ name, instruction, environment, tests, solution }) => ({
    name,
    instruction,
    workspace: filesOf(environment),
    tests: filesOf(tests),
    solution: filesOf(solution),
    timeout_seconds: 600,
    check_seconds: 60,
    budget_usd: 0.5,
  }));
