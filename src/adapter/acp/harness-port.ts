/** The engine's port to external agents. */
import type { HarnessPort } from "../../engine/harness/port.ts";
import { connectAgent } from "./client.ts";
import { listen } from "./listener.ts";
import { answerTools } from "./tool-server.ts";

export const harnessPort: HarnessPort = { connect: connectAgent, listen, answerTools };
