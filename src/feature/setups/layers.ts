/** Removes images of set-ups that no row names, and old rows together with their images. */
import { DAY_MS, toTimestamp } from "../../core/clock.ts";
import { messageOf } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import { ownJson } from "../../core/own-json.ts";
import type { Core } from "../feature.ts";
import type { Job } from "../jobs/model.ts";
import { KEPT_EACH, type SetupRows } from "./rows.ts";
import type { SetUpDeps, SetupRow } from "./set-up.ts";

export interface SetupLayersDeps extends Pick<Core, "clock" | "log"> {
  setUps: SetUpDeps["setUps"] | undefined;
  setups: Pick<SetupRows, "rows" | "recipeFor" | "findNewest">;
  /** The project's set-up job that waits or runs. */
  jobOf(projectId: string): Job | undefined;
}

/** How long a row without an image is kept once its environment no longer applies, in days. */
const KEPT_DAYS = 30;

export function createSetupLayers({ clock, log, setUps, setups, jobOf }: SetupLayersDeps) {
  const { rows, recipeFor, findNewest } = setups;
  /** Removes rows whose image is gone, the least recently used rows beyond the limits, and images that no row names. */
  async function prune(): Promise<void> {
    if (!setUps) return;
    const layers = await setUps.layers();
    const there = new Map(layers.map((layer) => [layer.name, layer]));
    const old = toTimestamp(clock.now() - KEPT_DAYS * DAY_MS);
    const [unused, all] = [
      toTimestamp(clock.now() - LIMITS.setUpLayerDays * DAY_MS),
      rows.list([], { order: "used_at DESC" }),
    ];
    let bytes = 0;
    const gone = all.filter((row) => {
      const recipe = recipeFor(row.project_id);
      const holds = recipe !== undefined && findNewest(row.project_id, recipe)?.key === row.key;
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
      // The image was made just now and gets its row in a moment.
      if (jobOf(projectId) || isNamed(projectId, name)) continue;
      // An image that a sandbox still uses cannot be removed; a later pass does it.
      await setUps.remove(name).catch((err) => log.debug({ err, name }, "the image of a set-up was not removed"));
    }
  }
  return {
    prune,
    removeUnnamed,
    /** Removes what an earlier process left in the container engine. */
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
