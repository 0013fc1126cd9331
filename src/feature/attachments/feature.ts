import { type Core, defineFeature } from "../feature.ts";
import { createContentStore } from "./content-store.ts";
import { attachmentRoutes } from "./routes.ts";
import { createAttachments } from "./service.ts";

const SWEEP_MS = 3_600_000;

export const attachments = defineFeature("attachments", (deps: Core) => {
  const service = createAttachments({ ...deps, content: createContentStore(deps.folder.uploads) });
  return {
    service,
    routes: attachmentRoutes(deps.base, service),
    attachments: { bytes: service.bytes, text: service.text },
    duties: [{ name: "attachments", everyMs: SWEEP_MS, run: service.sweep }],
    handOver: (from) => service.removeOf(from),
  };
});
