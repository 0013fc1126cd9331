import { type Core, defineFeature } from "../feature.ts";
import { transcriptRoutes } from "./routes.ts";
import { createTranscripts } from "./service.ts";

export const transcripts = defineFeature("transcripts", ({ store }: Core) => ({
  routes: () => transcriptRoutes(createTranscripts(store)),
}));
