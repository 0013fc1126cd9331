/**
 * Offers outputs of runs and documents as resources. Ids in their addresses match only letters, digits, `_` and `-`.
 */

import type * as Library from "@modelcontextprotocol/server";
import { ownJson } from "../../core/own-json.ts";
import type { AskFor } from "./server.ts";

interface Kind {
  pattern: RegExp;
  template: string;
  name: string;
  description: string;
  path(ids: string[]): string;
}

const ID = "([A-Za-z0-9_-]{1,64})";
const KINDS: readonly Kind[] = [
  {
    pattern: new RegExp(`^skep://runs/${ID}$`),
    template: "skep://runs/{run_id}",
    name: "run",
    description: "A run with its outputs.",
    path: ([run]) => `/v1/runs/${run}`,
  },
  {
    pattern: new RegExp(`^skep://runs/${ID}/steps/${ID}$`),
    template: "skep://runs/{run_id}/steps/{step_id}",
    name: "step",
    description: "The output of a step of a run.",
    path: ([run, step]) => `/v1/steps/${run}/${step}/output`,
  },
  {
    pattern: new RegExp(`^skep://documents/${ID}$`),
    template: "skep://documents/{document_id}",
    name: "document",
    description: "A document's table of contents.",
    path: ([document]) => `/v1/documents/${document}/toc`,
  },
];
const PAGE = 50;

interface RunItem {
  id: string;
  pipeline_id: string;
  status: string;
  task_description: string;
}
interface DocumentItem {
  id: string;
  title: string;
}
interface ListBody<T> {
  items: T[];
  next_cursor: string | null;
}

export function createResources(library: typeof Library, server: Library.Server, askFor: AskFor): void {
  server.setRequestHandler("resources/templates/list", () => ({
    resourceTemplates: KINDS.map(({ template, name, description }) => ({
      uriTemplate: template,
      name,
      description,
      mimeType: "application/json",
    })),
  }));
  server.setRequestHandler("resources/list", async ({ params }, ctx) => {
    const ask = askFor(ctx);
    const [kind = "runs", cursor] = params?.cursor === undefined ? [] : params.cursor.split(/:(.*)/s);
    const loadPage = async <T>(path: string): Promise<ListBody<T>> => {
      const query = new URLSearchParams({ limit: String(PAGE), ...(cursor ? { cursor } : {}) });
      const { text, isError } = await ask(() => ({ method: "GET", path, query }));
      if (isError) throw new library.ProtocolError(library.INVALID_PARAMS, text);
      return ownJson<ListBody<T>>(text);
    };
    if (kind === "documents") {
      const { items, next_cursor } = await loadPage<DocumentItem>("/v1/documents");
      const resources = items.map(({ id, title }) => ({
        uri: `skep://documents/${id}`,
        name: title,
        mimeType: "application/json",
      }));
      return { resources, ...(next_cursor === null ? {} : { nextCursor: `documents:${next_cursor}` }) };
    }
    if (kind !== "runs") throw new library.ProtocolError(library.INVALID_PARAMS, "This is not a cursor of this list.");
    const { items, next_cursor } = await loadPage<RunItem>("/v1/runs");
    const resources = items.map(({ id, pipeline_id, status, task_description }) => ({
      uri: `skep://runs/${id}`,
      name: `${pipeline_id}: ${task_description.slice(0, 80)}`,
      description: `${status}, ${id}`,
      mimeType: "application/json",
    }));
    return { resources, nextCursor: next_cursor === null ? "documents:" : `runs:${next_cursor}` };
  });
  server.setRequestHandler("resources/read", async ({ params: { uri } }, ctx) => {
    for (const { pattern, path } of KINDS) {
      const ids = pattern.exec(uri)?.slice(1);
      if (!ids) continue;
      const { text, isError } = await askFor(ctx)(() => ({ method: "GET", path: path(ids) }));
      if (isError) throw new library.ResourceNotFoundError(uri, text);
      return { contents: [{ uri, mimeType: "application/json", text }] };
    }
    throw new library.ResourceNotFoundError(uri);
  });
}
