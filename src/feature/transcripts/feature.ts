import { type Core, defineFeature } from "../feature.ts";
import { transcriptRoutes } from "./routes.ts";
import { createTranscripts } from "./service.ts";

export const transcripts = defineFeature("transcripts", ({ base, store }: Core) => ({
  routes: () => transcriptRoutes(base, createTranscripts(store)),
}));
