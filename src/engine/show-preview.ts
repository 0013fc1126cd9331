/**
 * Shows the app that a step runs: people can open it while its sandbox runs and, after a step that succeeded, for some
 * time longer.
 */
import { MINUTE_MS } from "../core/clock.ts";
import type { Logger } from "../core/log.ts";
import type { Ending, Execution } from "./execution.ts";
import type { PreviewPort, StepPreview } from "./ports.ts";
import type { Lease, Shown } from "./sandbox-pool.ts";
import { makeScreenshots } from "./screenshots.ts";

export type ShownPreview = ReturnType<typeof showPreview>;

interface Showing {
  execution: Execution;
  preview: StepPreview;
  lease: Lease;
  previews: PreviewPort;
  log: Logger;
  now(): number;
}

export function showPreview({ execution, preview, lease, previews, log, now }: Showing) {
  let app: Shown = { connect: lease.sandbox.connect, stop: async () => {} };
  const opened = previews.open(execution, preview, {
    connect: (port) => app.connect(port),
    stop: () => app.stop(),
  });
  let isOver = false;
  /** Closes the preview. Idempotent. Does nothing once the app is kept after its step. */
  const close = () => {
    if (isOver) return;
    isOver = true;
    opened.close();
  };
  return {
    close,
    /**
     * Called when the work has ended and its app still runs: stores screenshots if the step wants some. @throws the
     * signal's reason.
     */
    async picture({ status }: Pick<Ending, "status">, signal: AbortSignal): Promise<void> {
      if (status !== "succeeded" || preview.screenshots.length === 0) return;
      const { made, missing } = await makeScreenshots(lease.sandbox, preview, signal);
      previews.keepScreenshots(execution, made, missing);
    },
    /** Called when the work has ended, its files are committed and its sandbox is frozen. Never throws. */
    async end({ status }: Pick<Ending, "status">): Promise<void> {
      const ms = preview.keepMinutes * MINUTE_MS;
      if (status !== "succeeded" || ms === 0) return close();
      try {
        const shown = await lease.show(ms, opened.close);
        if (!shown) return close();
        app = shown;
        opened.keep(now() + ms);
        isOver = true;
      } catch (err) {
        log.warn({ err, execution: execution.id }, "an app could not be kept after its step");
        close();
      }
    },
  };
}
