/** A server with a metered model, and agents that the example program (`acp-agent.cjs`) drives in a container. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { DockerClient } from "../adapter/docker.ts";
import { harnessImage } from "./harness-image.ts";
import { type EndedRun, type MeteredServer, startMeteredServer } from "./metered-server.ts";

/** The command of the example program in its image. */
export const EXAMPLE = ["node", "/opt/agent.cjs"];
/** The example is also installed under these names, so that it drives agents with these harnesses. */
const STAND_INS = ["codex-acp", "claude-agent-acp"];

/** Builds the image with the example program. @returns its name. */
export const exampleImage = (docker: DockerClient): Promise<string> =>
  harnessImage(docker, [], {
    "opt/agent.cjs": readFileSync(join(import.meta.dir, "acp-agent.cjs"), "utf8"),
    ...Object.fromEntries(STAND_INS.map((name) => [`usr/local/bin/${name}`, `#!/bin/sh\nexec ${EXAMPLE.join(" ")}\n`])),
  });

export interface ExampleAgents {
  metered: MeteredServer;
  image: string;
  /**
   * Creates a pipeline of one step, whose agent does what the example defines under the name `mode`. @returns its id.
   */
  pipeline(mode: string, agent?: Record<string, unknown>, defaults?: Record<string, unknown>): Promise<string>;
  /** The text of the run's last step. */
  textOf(run: EndedRun): Promise<string>;
  remove(): Promise<void>;
}

export async function startExampleAgents(
  docker: DockerClient,
  env: Record<string, string> = {},
): Promise<ExampleAgents> {
  const image = await exampleImage(docker);
  const metered = await startMeteredServer({ SANDBOX: "docker", ...env });
  return {
    metered,
    image,
    pipeline: (mode, agent = {}, defaults) =>
      metered.pipeline(defaults, {
        prompt: `MODE: ${mode}\n.`,
        harness: { acp: EXAMPLE, image },
        memory_mb: 512,
        ...agent,
      }),
    async textOf({ id }) {
      const { body } = await metered.call<{ text: string }>("GET", `/v1/steps/${id}/work/output`);
      return body.text;
    },
    remove: metered.remove,
  };
}
