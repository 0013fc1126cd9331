import { defineFeature } from "../feature.ts";
import { swarmEvents } from "./events.ts";

export const swarm = defineFeature("swarm", () => ({}), swarmEvents);
