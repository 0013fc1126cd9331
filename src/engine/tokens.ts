/** Tokens of running executions. They are kept in memory only, so they end with the execution or the process. */
import { createHash, randomBytes } from "node:crypto";
import type { Execution } from "./execution.ts";

/** What a token identifies: one execution, and the user it works for. */
export type ExecutionHolder = Pick<Execution, "id" | "sessionId" | "agentId" | "userId" | "runId" | "projectId">;

export type ExecutionTokens = ReturnType<typeof createExecutionTokens>;

export function createExecutionTokens() {
  const byDigest = new Map<string, Execution>();
  const byExecution = new Map<string, string>();
  const digest = (token: string) => createHash("sha256").update(token).digest("base64url");
  const revoke = (executionId: string): void => {
    const key = byExecution.get(executionId);
    if (key !== undefined) byDigest.delete(key);
    byExecution.delete(executionId);
  };
  return {
    issue(execution: Execution): string {
      revoke(execution.id);
      const token = `skepx_${randomBytes(32).toString("base64url")}`;
      const key = digest(token);
      byDigest.set(key, execution);
      byExecution.set(execution.id, key);
      return token;
    },
    revoke,
    find(token: string): ExecutionHolder | undefined {
      const execution = byDigest.get(digest(token));
      if (!execution) return undefined;
      const { id, sessionId, agentId, userId, runId, projectId } = execution;
      return { id, sessionId, agentId, userId, runId, projectId };
    },
  };
}
