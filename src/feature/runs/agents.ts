/** The settings and checks of agents that runs need. */

import { invalid, isProblem } from "../../core/errors.ts";
import { NO_AGENT } from "../../core/no-agent.ts";
import { agentOf, type PipelineDefinition } from "../../engine/pipeline/definition.ts";

interface AgentConfig {
  timeout_seconds?: number | undefined;
  max_attempts?: number | undefined;
}

/** @param ready throws Problem 404 for an unknown agent, 409 for one that is switched off or whose file is broken. */
export const createRunAgents = (ready: (id: string) => { agent: { config: AgentConfig } }) => ({
  /**
   * Settings of an agent. Empty if the agent is gone, broken or switched off by now: the step's own execution reports
   * that.
   */
  configOf(agentId: string): AgentConfig {
    if (agentId === NO_AGENT) return {};
    try {
      return ready(agentId).agent.config;
    } catch (error) {
      if (isProblem(error)) return {};
      throw error;
    }
  },
  /** @throws Problem 422 when the pipeline names an agent that does not exist or is switched off. */
  assertReady({ id, steps }: PipelineDefinition): void {
    const errors = steps.flatMap((step, at) => {
      const agent = agentOf(step);
      if (agent === null) return [];
      try {
        ready(agent);
        return [];
      } catch (error) {
        if (!isProblem(error)) throw error;
        return [{ pointer: `/steps/${at}/agent`, message: `${agent}: ${error.detail}` }];
      }
    });
    const [first] = errors;
    if (first) throw invalid(`The pipeline ${id} cannot run. Its agent ${first.message}`, errors);
  },
});
