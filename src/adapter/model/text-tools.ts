/**
 * Rewrites a request for a model whose server does not support tools. The instructions describe the tools; calls and
 * results stand in the conversation, in the form of Hermes. `text-calls.ts` reads the calls that the model writes.
 */
import type { ModelMessage, ModelRequest, ModelTool } from "../../engine/model.ts";
import type { AssistantPart, TextPart } from "../../engine/parts.ts";

/** The request without tools, which are described in its text instead. */
export function withToolsInText(request: ModelRequest): ModelRequest {
  const { system, messages, tools } = request;
  const about = tools.length > 0 ? [toolsText(tools)] : [];
  return {
    ...request,
    tools: [],
    system: [system, ...about].join("\n\n"),
    messages: joinUserMessages(messages.map(inText)),
  };
}

function toolsText(tools: readonly ModelTool[]): string {
  const list = tools.map(({ name, description, parameters }) => JSON.stringify({ name, description, parameters }));
  return `You can call tools. End your reply with a call of this form, several times for several calls, and write nothing after it:
<tool_call>
{"name": "NAME", "arguments": {}}
</tool_call>
You read what it gave in the next message, inside <tool_response>. These are the tools, with the schema of their arguments:
<tools>
${list.join("\n")}
</tools>`;
}

function inText(message: ModelMessage): ModelMessage {
  if (message.role === "tool") {
    const said = message.results.map(
      ({ tool, ok, output }) => `<tool_response>\n${tool}${ok ? "" : " failed"}:\n${output}\n</tool_response>`,
    );
    return { role: "user", parts: [{ type: "text", text: said.join("\n") }] };
  }
  if (message.role === "user") return message;
  return { role: "assistant", parts: message.parts.map(partInText) };
}

function partInText(part: AssistantPart): AssistantPart {
  if (part.type !== "tool_call") return part;
  const call = JSON.stringify({ name: part.tool, arguments: part.input });
  return { type: "text", text: `\n<tool_call>\n${call}\n</tool_call>` };
}

/** Joins consecutive user messages, because some templates require strictly alternating roles. */
function joinUserMessages(messages: readonly ModelMessage[]): ModelMessage[] {
  const out: ModelMessage[] = [];
  for (const message of messages) {
    const last = out.at(-1);
    if (message.role !== "user" || last?.role !== "user") out.push(message);
    else out[out.length - 1] = { role: "user", parts: [...last.parts, ...setApart(message.parts)] };
  }
  return out;
}

type UserParts = Extract<ModelMessage, { role: "user" }>["parts"];
const setApart = (parts: UserParts): UserParts =>
  parts.map((part, at): UserParts[number] => (at === 0 && part.type === "text" ? addBlankLine(part) : part));
const addBlankLine = (part: TextPart): TextPart => ({ ...part, text: `\n\n${part.text}` });
