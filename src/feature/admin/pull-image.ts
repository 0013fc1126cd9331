/** Pulls an image as a background job that shows the progress of each layer. */
import { Type as t } from "@sinclair/typebox";
import type { ImageProgress } from "../../adapter/docker/progress.ts";
import type { DockerClient } from "../../adapter/docker.ts";
import { unavailable } from "../../core/errors.ts";
import { defineJob } from "../../core/jobs.ts";
import type { Caller } from "../../http/caller.ts";
import type { Job } from "../jobs/model.ts";
import type { Jobs } from "../jobs/service.ts";

interface PullDeps {
  docker: Pick<DockerClient, "images" | "ping"> | undefined;
  jobs: Pick<Jobs, "enqueue">;
  /** Closes the notification that this image is missing. */
  onPull(image: string): void;
}

export type PullImage = ReturnType<typeof createPullImage>;

export function createPullImage({ docker, jobs, onPull }: PullDeps) {
  const requireEngine = () => {
    if (!docker)
      throw unavailable(
        "sandbox_unavailable",
        "Agents work without a container engine here; there is nothing to pull to. Nodes of a cluster get images themselves.",
      );
    return docker;
  };
  const pullImage = defineJob("pull_image", t.Object({ image: t.String() }), async ({ image }, { report, signal }) => {
    const { images } = requireEngine();
    const layers = createLayers();
    const onProgress = (progress: ImageProgress) => {
      const { layer, status } = progress;
      const percent = layers.take(progress);
      report({ percent, detail: layer ? `${status} ${layer}` : status, progress: { layers: layers.all() } });
    };
    await images.pull(image, { onProgress, signal });
    onPull(image);
    const found = await images.inspect(image);
    return { image, image_id: found?.id ?? null };
  });
  return {
    definition: pullImage,
    /** Call before `start`. @throws Problem 503 when Docker does not answer. */
    assertReady: async (): Promise<void> => requireEngine().ping(),
    start: (image: string, { userId }: Caller): Job =>
      jobs.enqueue(pullImage, { image }, { key: image, subject: image, userId }),
  };
}

/** The state of one layer, as the job's events show it. */
export interface LayerState {
  layer: string;
  status: string;
  current_bytes: number | null;
  total_bytes: number | null;
}

/**
 * The progress of a pull: bytes fetched of the layers known so far. The percentage never decreases and reaches 100 only
 * at the end.
 */
function createLayers() {
  const layers = new Map<string, { current: number; total: number }>();
  const states = new Map<string, LayerState>();
  let shown: number | undefined;
  const show = ({ layer, status, currentBytes, totalBytes }: ImageProgress): void => {
    // Docker also writes "Pulling from NAME", with the tag in place of a layer's id.
    if (layer === undefined || /^Pulling from/.test(status)) return;
    states.set(layer, { layer, status, current_bytes: currentBytes ?? null, total_bytes: totalBytes ?? null });
  };
  return {
    /** The last state of every layer, in the order of the image. */
    all: (): LayerState[] => [...states.values()],
    take(progress: ImageProgress): number | undefined {
      show(progress);
      const { layer, status, currentBytes = 0, totalBytes = 0 } = progress;
      if (layer && status === "Downloading" && totalBytes > 0)
        layers.set(layer, { current: currentBytes, total: totalBytes });
      const known = layer === undefined ? undefined : layers.get(layer);
      if (known && /complete|already exists/i.test(status)) known.current = known.total;
      const [current, total] = [...layers.values()].reduce(([a, b], one) => [a + one.current, b + one.total], [0, 0]);
      if (total > 0) shown = Math.max(shown ?? 0, Math.min(99, Math.round((100 * current) / total)));
      return shown;
    },
  };
}
