import { HOUR_MS } from "../../core/clock.ts";
import { createContentStore } from "../../store/content-store.ts";
import { type Core, defineFeature } from "../feature.ts";
import type { Jobs } from "../jobs/service.ts";
import type { StorageService } from "../storage/service.ts";
import { defineReadText } from "./read-text.ts";
import { attachmentRoutes } from "./routes.ts";
import { createAttachments } from "./service.ts";
import { createSettling } from "./settling.ts";

type Needs = Core & { jobs: Pick<Jobs, "enqueue">; storage: Pick<StorageService, "assertRoom"> };

const SWEEP_MS = HOUR_MS;

export const attachments = defineFeature("attachments", (deps: Needs) => {
  const content = createContentStore(deps.folder.uploads);
  const settling = createSettling();
  const readText = defineReadText({ ...deps, content, onSettled: settling.wake });
  const service = createAttachments({
    ...deps,
    content,
    readText,
    settling: settling.wait,
    assertRoom: deps.storage.assertRoom,
  });
  return {
    service,
    routes: () => attachmentRoutes(service),
    attachments: { bytes: service.bytes, text: service.text },
    jobs: [readText],
    duties: [{ name: "attachments", everyMs: SWEEP_MS, run: service.sweep }],
    handOver: (from) => service.removeOf(from),
  };
});
