/** Images of set-ups: those that no row names are removed, and so are old rows with theirs. */
import { DAY_MS, timestamp } from "../../core/clock.ts";
import { messageOf } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import { ownJson } from "../../core/own-json.ts";
import type { Core } from "../feature.ts";
import type { Job } from "../jobs/model.ts";
import { KEPT_EACH, type SetupRows } from "./rows.ts";
import type { SetUpDeps, SetupRow } from "./set-up.ts";

export interface SetupLayersDeps extends Pick<Core, "clock" | "log"> {
  setUps: SetUpDeps["setUps"] | undefined;
  setups: Pick<SetupRows, "rows" | "recipeFor" | "newest">;
  /** The set-up of the project that waits or is under way. */
  jobOf(projectId: string): Job | undefined;
}

/** Failed ones, and those of environments that do not hold any more. */
const KEPT_DAYS = 30;

export function createSetupLayers({ clock, log, setUps, setups, jobOf }: SetupLayersDeps) {
  const { rows, recipeFor, newest } = setups;
  /** Images that no row names, oldest rows beyond the bounds, rows whose image is gone. */
  async function prune(): Promise<void> {
    if (!setUps) return;
    const layers = await setUps.layers();
    const there = new Map(layers.map((layer) => [layer.name, layer]));
    const old = timestamp(clock.now() - KEPT_DAYS * DAY_MS);
    const [unused, all] = [
      timestamp(clock.now() - LIMITS.setUpLayerDays * DAY_MS),
      rows.list([], { order: "used_at DESC" }),
    ];
    let bytes = 0;
    const gone = all.filter((row) => {
      const recipe = recipeFor(row.project_id);
      const holds = recipe !== undefined && newest(row.project_id, recipe)?.key === row.key;
      if (row.image === null) return !holds && row.used_at < old;
      if (!there.has(row.image)) return true;
      bytes += row.image_bytes;
      return bytes > LIMITS.setUpLayersBytes || (!holds && row.used_at < unused);
    });
    for (const { project_id, key } of gone) rows.remove({ project_id, key });
    await removeUnnamed();
  }
  const isNamed = (project_id: string, name: string): boolean =>
    rows.list([{ project_id }], { limit: 2 * KEPT_EACH }).some((row) => row.image === name || stepsOf(row).has(name));
  async function removeUnnamed(): Promise<void> {
    if (!setUps) return;
    for (const { name, projectId } of await setUps.layers()) {
      // One that was just made gets its row in a moment.
      if (jobOf(projectId) || isNamed(projectId, name)) continue;
      // One that a sandbox still runs from is removed later.
      await setUps.remove(name).catch((err) => log.debug({ err, name }, "the image of a set-up was not removed"));
    }
  }
  return {
    prune,
    removeUnnamed,
    /** What an earlier process left in the container engine. */
    async sweep(): Promise<void> {
      try {
        await setUps?.sweep((id) => jobOf(id)?.state === "running");
        await prune();
      } catch (error) {
        log.debug({ err: error }, `set-ups were not swept: ${messageOf(error)}`);
      }
    },
  };
}

const stepsOf = ({ steps }: SetupRow): Set<string> => new Set(ownJson<string[]>(steps));
