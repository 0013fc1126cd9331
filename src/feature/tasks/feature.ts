import { defineFeature } from "../feature.ts";
import { taskEvents } from "./events.ts";

export const tasks = defineFeature("tasks", () => ({}), taskEvents);
