/** Offers each pipeline as a prompt, which a person picks in the client's menu to run it. */

import type * as Library from "@modelcontextprotocol/server";
import { ownJson } from "../../core/own-json.ts";
import type { AskFor } from "./server.ts";

interface PipelineItem {
  id: string;
  name: string;
  description: string;
  valid: boolean;
  inputs: Record<string, { description?: string; required?: boolean; default?: unknown }>;
}
const TASK = "task";
const PAGE = 200;

export function createPrompts(library: typeof Library, server: Library.Server, askFor: AskFor): void {
  const createError = (text: string) => new library.ProtocolError(library.INVALID_PARAMS, text);
  const argumentsOf = ({ inputs }: PipelineItem) => [
    { name: TASK, description: "What the agents are to do.", required: true },
    ...Object.entries(inputs)
      .filter(([name]) => name !== TASK)
      .map(([name, input]) => ({
        name,
        ...(input?.description ? { description: input.description } : {}),
        required: input?.default === undefined && input?.required !== false,
      })),
  ];
  server.setRequestHandler("prompts/list", async ({ params }, ctx) => {
    const query = new URLSearchParams({ limit: String(PAGE), ...(params?.cursor ? { cursor: params.cursor } : {}) });
    const { text, isError } = await askFor(ctx)(() => ({ method: "GET", path: "/v1/pipelines", query }));
    if (isError) throw createError(text);
    const { items, next_cursor } = ownJson<{ items: PipelineItem[]; next_cursor: string | null }>(text);
    const prompts = items
      .filter(({ valid }) => valid)
      .map((one) => ({ name: one.id, title: one.name, description: one.description, arguments: argumentsOf(one) }));
    return { prompts, ...(next_cursor === null ? {} : { nextCursor: next_cursor }) };
  });
  server.setRequestHandler("prompts/get", async ({ params: { name, arguments: given = {} } }, ctx) => {
    const { text, isError } = await askFor(ctx)(() => ({
      method: "GET",
      path: `/v1/pipelines/${encodeURIComponent(name)}`,
    }));
    if (isError) throw createError(text);
    const pipeline = ownJson<PipelineItem>(text);
    const missing = argumentsOf(pipeline).find((one) => one.required && !given[one.name]);
    if (missing) throw createError(`The argument ${missing.name} is missing.`);
    const { [TASK]: task, ...inputs } = given;
    const call = {
      pipeline_id: pipeline.id,
      task_description: task,
      ...(Object.keys(inputs).length > 0 ? { inputs } : {}),
    };
    const words = `Start this run with the tool start_run, then follow it with get_run until it has ended or waits for me, and tell me the result.\n\n${JSON.stringify(call, null, 2)}`;
    return { description: pipeline.description, messages: [{ role: "user", content: { type: "text", text: words } }] };
  });
}
