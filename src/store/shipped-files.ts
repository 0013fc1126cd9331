/**
 * The agents, skills and pipelines that come with the server, embedded as text: path below the folder of agents →
 * content. Each file under `agents/` has its line here; a test names those that have none.
 */
import hello from "../../agents/_pipelines/hello.yml" with { type: "text" };
import researcher from "../../agents/researcher/AGENT.md" with { type: "text" };
import reviewer from "../../agents/reviewer/AGENT.md" with { type: "text" };
import scribe from "../../agents/scribe/AGENT.md" with { type: "text" };
import type { ShippedFiles } from "./shipped.ts";

export const SHIPPED_FILES: ShippedFiles = {
  "researcher/AGENT.md": researcher,
  "reviewer/AGENT.md": reviewer,
  "scribe/AGENT.md": scribe,
  "_pipelines/hello.yml": hello,
};
