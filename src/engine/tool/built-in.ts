/** The engine's own tools, one line each: files, commands, web pages, and the end of an execution. */
import { type ToolSource, toolsOf } from "../tool.ts";
import { bashTool } from "./bash.ts";
import { completeTool } from "./complete.ts";
import { editTool } from "./edit.ts";
import { failTool } from "./fail.ts";
import { createFetchUrlTool, type FetchUrlPorts } from "./fetch-url.ts";
import { findTool } from "./find.ts";
import { grepTool } from "./grep.ts";
import { lsTool } from "./ls.ts";
import { readTool } from "./read.ts";
import { writeTool } from "./write.ts";

export const builtInTools = (ports: FetchUrlPorts): ToolSource =>
  toolsOf("built-in", [
    readTool,
    writeTool,
    editTool,
    lsTool,
    findTool,
    grepTool,
    bashTool,
    createFetchUrlTool(ports),
    completeTool,
    failTool,
  ]);
