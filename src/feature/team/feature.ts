/** The folder of the team: shipped files are written into it once, and agents' files are read from it. */
import { parseAgentFile } from "../../engine/agent-file.ts";
import { installShipped } from "../../store/shipped.ts";
import { SHIPPED_FILES } from "../../store/shipped-files.ts";
import { createTextFolder, type TextFolder } from "../../store/text-folder.ts";
import { type Core, defineFeature } from "../feature.ts";
import { type AgentFiles, createAgentFiles } from "./files.ts";

export interface Team {
  folder: TextFolder;
  files: AgentFiles;
}

export const team = defineFeature("team", ({ store, log, folder: data }: Core) => {
  const folder = createTextFolder(data.agents);
  const { written, note } = installShipped(store, folder, SHIPPED_FILES);
  if (written.length > 0) log.info({ files: written.length }, "shipped agents, skills and pipelines written");
  const service: Team = { folder, files: createAgentFiles(folder, parseAgentFile) };
  return { service, resume: note };
});
