/** The engine's own tools, one line each. */
import { type ToolSource, toolsOf } from "../tool.ts";
import { createBashTool } from "./bash.ts";
import { createCompleteTool } from "./complete.ts";
import { type CreateSkillPorts, createCreateSkillTool } from "./create-skill.ts";
import { createEditTool } from "./edit.ts";
import { createFailTool } from "./fail.ts";
import { createFetchUrlTool, type FetchUrlPorts } from "./fetch-url.ts";
import { createFindTool } from "./find.ts";
import { createGetRunHistoryTool, type RunHistoryPorts } from "./get-run-history.ts";
import { createGrepTool } from "./grep.ts";
import { createLoadSkillTool, type LoadSkillPorts } from "./load-skill.ts";
import { createLsTool } from "./ls.ts";
import { createReadTool } from "./read.ts";
import { createWriteTool } from "./write.ts";

export type BuiltInPorts = LoadSkillPorts & CreateSkillPorts & FetchUrlPorts & RunHistoryPorts;

export const builtInTools = (ports: BuiltInPorts): ToolSource =>
  toolsOf("built-in", [
    createReadTool(),
    createWriteTool(),
    createEditTool(),
    createLsTool(),
    createFindTool(),
    createGrepTool(),
    createBashTool(),
    createLoadSkillTool(ports),
    createCreateSkillTool(ports),
    createGetRunHistoryTool(ports),
    createFetchUrlTool(ports),
    createCompleteTool(),
    createFailTool(),
  ]);
