/** The engine's own tools, one line each: files, commands, web pages, and the end of an execution. */
import { type ToolSource, toolsOf } from "../tool.ts";
import { createBashTool } from "./bash.ts";
import { createCompleteTool } from "./complete.ts";
import { createEditTool } from "./edit.ts";
import { createFailTool } from "./fail.ts";
import { createFetchUrlTool, type FetchUrlPorts } from "./fetch-url.ts";
import { createFindTool } from "./find.ts";
import { createGrepTool } from "./grep.ts";
import { createLsTool } from "./ls.ts";
import { createReadTool } from "./read.ts";
import { createWriteTool } from "./write.ts";

export const builtInTools = (ports: FetchUrlPorts): ToolSource =>
  toolsOf("built-in", [
    createReadTool(),
    createWriteTool(),
    createEditTool(),
    createLsTool(),
    createFindTool(),
    createGrepTool(),
    createBashTool(),
    createFetchUrlTool(ports),
    createCompleteTool(),
    createFailTool(),
  ]);
