import { defineFeature } from "../feature.ts";
import { memoryEvents } from "./events.ts";

export const memory = defineFeature("memory", () => ({}), memoryEvents);
