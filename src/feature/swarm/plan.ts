/** Checks a swarm's tasks: unique keys, dependencies that exist, no cycle. Pure. */
import { invalidField } from "../../core/errors.ts";
import { didYouMean } from "../../core/near.ts";
import type { SwarmTaskRequest } from "./model.ts";

/**
 * @returns the number of tasks in the longest chain of dependencies.
 * @throws Problem 422, naming the field, for a key that occurs twice, a dependency that does not exist, or a cycle.
 */
export function checkPlan(tasks: readonly Pick<SwarmTaskRequest, "key" | "depends_on">[]): number {
  const places = new Map<string, number>();
  for (const [at, { key }] of tasks.entries()) {
    const first = places.get(key);
    if (first !== undefined) throw invalidField(`/tasks/${at}/key`, `${key} is the key of task ${first + 1} already.`);
    places.set(key, at);
  }
  for (const [at, { key, depends_on = [] }] of tasks.entries())
    for (const [n, other] of depends_on.entries()) {
      const pointer = `/tasks/${at}/depends_on/${n}`;
      if (other === key) throw invalidField(pointer, `${key} cannot depend on itself.`);
      if (depends_on.indexOf(other) < n) throw invalidField(pointer, `${other} occurs twice.`);
      if (places.has(other)) continue;
      const near = didYouMean(other, [...places.keys()]);
      throw invalidField(pointer, `There is no task ${other} in this swarm.${near ? ` ${near}` : ""}`);
    }
  return measureDepth(tasks, places);
}

/** Walks from tasks that depend on nothing. Tasks that are never reached are in a cycle or depend on one. */
function measureDepth(
  tasks: readonly Pick<SwarmTaskRequest, "key" | "depends_on">[],
  places: Map<string, number>,
): number {
  const depths = new Map<string, number>();
  const left = new Set(tasks);
  for (let before = -1; left.size !== before; ) {
    before = left.size;
    for (const task of left) {
      const { key, depends_on = [] } = task;
      const below = depends_on.map((other) => depths.get(other));
      if (below.includes(undefined)) continue;
      depths.set(key, 1 + Math.max(0, ...below.map(Number)));
      left.delete(task);
    }
  }
  if (left.size === 0) return Math.max(...depths.values());
  const circle = circleIn([...left]);
  const at = places.get(circle[0]!)!;
  throw invalidField(
    `/tasks/${at}/depends_on`,
    `These tasks wait for each other: ${[...circle, circle[0]].join(" → ")}.`,
  );
}

/** Finds a cycle. Each of these tasks depends on another one of them, so following dependencies leads back. */
function circleIn(tasks: readonly Pick<SwarmTaskRequest, "key" | "depends_on">[]): string[] {
  const byKey = new Map(tasks.map((task) => [task.key, task]));
  const path: string[] = [];
  for (let key = tasks[0]!.key; ; ) {
    const seen = path.indexOf(key);
    if (seen >= 0) return path.slice(seen);
    path.push(key);
    key = byKey.get(key)!.depends_on!.find((other) => byKey.has(other))!;
  }
}
