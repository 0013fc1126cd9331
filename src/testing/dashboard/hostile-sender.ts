/** Sends hostile texts and notes each field that they went into. */
import type { CodeHostFake } from "../code-host.ts";
import type { ModelServer } from "../model-server.ts";
import type { TestServer } from "../server.ts";
import type { SourceTree } from "../source-tree.ts";
import { type ApiDocument, thingOf } from "./hostile-fields.ts";
import { type Hostile, type Marks, marksIn } from "./hostile-marks.ts";

export interface HostileDeps {
  server: TestServer;
  token: string;
  marks: Marks;
  document: ApiDocument;
  host: CodeHostFake;
  models: ModelServer;
  repository: SourceTree;
}

/** Sends as the administrator, and records into which field of the API each mark went. */
export function createSender({ server, token, marks, document }: HostileDeps) {
  const routes = Object.keys(document.paths).map((path) => ({
    thing: thingOf(path),
    pattern: new RegExp(`^${path.replace(/\{[^}]+\}/g, "[^/]+")}$`),
  }));
  const record = (thing: string, value: unknown, at = ""): void => {
    if (value instanceof File) record(thing, value.name, at);
    else if (typeof value === "string")
      for (const mark of marksIn(value)) marks.places.set(mark, marks.places.get(mark) || `${thing} ${at}`);
    else if (Array.isArray(value)) for (const one of value) record(thing, one, `${at}/[]`);
    else if (value && typeof value === "object")
      for (const [name, one] of Object.entries(value))
        record(thing, one, `${at}/${/\/(env|headers|inputs|metadata)$/.test(at) ? "*" : name}`);
  };
  return async <T = { id: string }>(method: string, path: string, body?: object): Promise<T> => {
    const thing = routes.find(({ pattern }) => pattern.test(path.split("?")[0]!))?.thing ?? path;
    record(thing, body instanceof FormData ? Object.fromEntries(body.entries()) : body);
    const answer = await server.request<T>(method, path, { token, ...(body ? { body } : {}) });
    if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
}
export type Send = ReturnType<typeof createSender>;
export type Bad = (max?: number, more?: Hostile) => string;
