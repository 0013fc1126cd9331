/** What features hand in to have an agent work, and how executions are seen from other features. */
import type { OutputContract } from "../../store/tables/executions.ts";

export interface ExecutionDraft {
  kind: "pipeline" | "chat" | "pulse" | "swarm" | "spawn" | "onboarding" | "ingest";
  agent_id: string;
  prompt: string;
  run_id?: string | undefined;
  /** Row id and name of a pipeline step. */
  step_row_id?: string | undefined;
  step_id?: string | undefined;
  project_id?: string | undefined;
  task_id?: string | undefined;
  user_id?: string | undefined;
  model?: string | undefined;
  contract?: OutputContract;
  skills?: string[];
  timeout_seconds: number;
}
