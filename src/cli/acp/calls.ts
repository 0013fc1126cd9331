/** Tool calls as an editor shows them: what they do, and what they change in files. */
import { isAbsolute, relative, resolve } from "node:path";
import type { ToolCall, ToolCallContent, ToolCallUpdate } from "@agentclientprotocol/sdk";
import { listIn, textIn } from "../../core/is-object.ts";
import { kindOfTool } from "../../core/permission-rule.ts";
import { inputText } from "../follow/state.ts";
import { oneLine, stripControls } from "../terminal/style.ts";

export interface Call {
  call_id: string;
  tool: string;
  input: unknown;
}

const TITLE_CHARACTERS = 200;
const DIFFS = 100;

/**
 * Presents a tool call that begins. @param cwd the folder that the editor has open; paths of the workspace are shown
 * inside it.
 */
export function presentCall({ call_id, tool, input }: Call, cwd: string): ToolCall {
  const path = pathIn(input, cwd);
  return {
    toolCallId: call_id,
    title: titleOf(`${tool} ${inputText(input)}`),
    name: tool,
    kind: kindOfTool(tool),
    status: "pending",
    rawInput: input,
    content: diffsIn(input, cwd),
    locations: path === undefined ? [] : [{ path }],
  };
}

/**
 * Presents the end of a call. A successful call that changed a file keeps showing that change instead of its output.
 */
export function presentEnd(
  call: Pick<Call, "call_id" | "input">,
  end: { ok: boolean; output: string },
  cwd: string,
): ToolCallUpdate {
  const diffs = end.ok ? diffsIn(call.input, cwd) : [];
  const text: ToolCallContent[] =
    end.output === "" ? [] : [{ type: "content", content: { type: "text", text: stripControls(end.output) } }];
  return {
    toolCallId: call.call_id,
    status: end.ok ? "completed" : "failed",
    content: diffs.length > 0 ? diffs : text,
  };
}

export const titleOf = (text: string): string => {
  const line = oneLine(text);
  return line.length > TITLE_CHARACTERS ? `${line.slice(0, TITLE_CHARACTERS)}…` : line;
};

/** The first of these members that is text: agent programs give the same input different names. */
const textOf = (input: unknown, ...names: string[]): string | undefined =>
  names.map((name) => textIn(input, name)).find((text) => text !== undefined);

function pathIn(input: unknown, cwd: string): string | undefined {
  const path = textOf(input, "path", "file_path", "filePath");
  if (path === undefined || path === "") return undefined;
  if (isAbsolute(path)) return path;
  const whole = resolve(cwd, path);
  return relative(cwd, whole).startsWith("..") ? undefined : whole;
}

function diffsIn(input: unknown, cwd: string): ToolCallContent[] {
  const path = pathIn(input, cwd);
  if (path === undefined) return [];
  const whole = textIn(input, "content");
  if (whole !== undefined) return [{ type: "diff", path, oldText: null, newText: whole }];
  return [input, ...listIn(input, "edits").slice(0, DIFFS)].flatMap((edit): ToolCallContent[] => {
    const oldText = textOf(edit, "old_text", "old_string", "oldString");
    const newText = textOf(edit, "new_text", "new_string", "newString");
    return oldText === undefined || newText === undefined ? [] : [{ type: "diff", path, oldText, newText }];
  });
}
