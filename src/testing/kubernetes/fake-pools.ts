/**
 * Warm pools of agent-sandbox in the fake cluster. Their Pods wait; a claim gets one of them, or one created from the
 * template.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { membersOf, textIn } from "../../core/is-object.ts";
import { readJson } from "../../core/json-reader.ts";

interface FakePoolsDeps {
  add(pod: unknown): void;
  remove(name: string): Promise<void>;
}

/** The answer to a claim that gets no Pod. */
interface NoPod {
  reason: string;
  message: string;
}

export function createFakePools({ add, remove }: FakePoolsDeps) {
  /** Objects by resource and name, as in addresses. */
  const objects = new Map<string, unknown>();
  const waiting = new Map<string, string[]>();
  /** The Pod of each claim. */
  const claimed = new Map<string, string>();
  const said: unknown[] = [];
  let made = 0;
  let noPod: NoPod | "silent" | undefined;

  const podOf = (template: unknown): string => {
    const name = `warm-${made++}`;
    const { metadata, spec } = membersOf(template);
    add({ apiVersion: "v1", kind: "Pod", metadata: { ...membersOf(metadata), name }, spec });
    return name;
  };
  function statusOf(claim: string, pool: string): unknown {
    if (noPod === "silent") return {};
    if (noPod) return { conditions: [{ type: "Ready", status: "False", ...noPod }] };
    const template = membersOf(membersOf(objects.get(`sandboxtemplates/${pool}`))["spec"])["podTemplate"];
    const pod = waiting.get(pool)?.shift() ?? podOf(template);
    claimed.set(claim, pod);
    const annotations = { "agents.x-k8s.io/pod-name": pod };
    objects.set(`sandboxes/box-${pod}`, { metadata: { name: `box-${pod}`, annotations } });
    return { sandbox: { name: `box-${pod}` }, conditions: [{ type: "Ready", status: "True" }] };
  }
  async function create(body: unknown): Promise<unknown> {
    said.push(body);
    const name = textIn(membersOf(body)["metadata"], "name") ?? "";
    const pool = textIn(membersOf(membersOf(body)["spec"])["warmPoolRef"], "name") ?? "";
    const claim = { ...membersOf(body), status: statusOf(name, pool) };
    objects.set(`sandboxclaims/${name}`, claim);
    return claim;
  }
  return {
    /** The bodies of the claims that were created. */
    said,
    /** The claims that exist. */
    claims: (): string[] => [...objects.keys()].filter((key) => key.startsWith("sandboxclaims/")),
    /** Opens a pool with a template of the same name and Pods that wait in it. */
    open(name: string, template: unknown, replicas: number): void {
      objects.set(`sandboxtemplates/${name}`, template);
      const spec = { sandboxTemplateRef: { name } };
      objects.set(`sandboxwarmpools/${name}`, { spec, status: { readyReplicas: replicas } });
      const { podTemplate } = membersOf(membersOf(template)["spec"]);
      waiting.set(
        name,
        Array.from({ length: replicas }, () => podOf(podTemplate)),
      );
    },
    /** Adds a Pod of another template to the pool. */
    hand(name: string, template: Record<string, unknown>): void {
      waiting.get(name)?.push(podOf(membersOf(template["spec"])["podTemplate"]));
    },
    /** From now on, claims get this answer instead of a Pod. */
    refuse: (how: NoPod | "silent" | undefined) => {
      noPod = how;
    },
    async handle(request: IncomingMessage, url: URL, answer: ServerResponse): Promise<void> {
      const [, resource = "", name] =
        /^\/apis\/(?:extensions\.)?agents\.x-k8s\.io\/v1beta1\/namespaces\/work\/([a-z]+)(?:\/(.+))?$/.exec(
          url.pathname,
        ) ?? [];
      const say = (status: number, body: unknown) => {
        answer.writeHead(status, { "content-type": "application/json" });
        answer.end(JSON.stringify(body));
      };
      // An API server answers like this if the API is not installed.
      if (objects.size === 0) return void answer.writeHead(404).end("404 page not found\n");
      if (request.method === "POST") return say(201, await create(readJson(await bodyOf(request))));
      if (name === undefined && url.searchParams.get("watch") === "true")
        return void answer.writeHead(200, { "content-type": "application/json" }).write("\n");
      if (name === undefined) {
        const [key, wanted] = selectorIn(url.searchParams).split("=");
        const items = [...objects].flatMap(([at, object]) => {
          const metadata = membersOf(membersOf(object)["metadata"]);
          const value = key === "metadata.name" ? metadata["name"] : membersOf(metadata["labels"])[key ?? ""];
          return at.startsWith(`${resource}/`) && value === wanted ? [object] : [];
        });
        return say(200, { metadata: { resourceVersion: "1" }, items });
      }
      const key = `${resource}/${name}`;
      if (!objects.has(key)) return say(404, { message: `${resource} "${name}" not found` });
      if (request.method === "DELETE") {
        objects.delete(key);
        await remove(claimed.get(name) ?? "");
      }
      say(200, objects.get(key) ?? {});
    },
  };
}

/** The selector by labels or by name; the client sends one of them. */
export const selectorIn = (query: URLSearchParams): string =>
  query.get("labelSelector") ?? query.get("fieldSelector") ?? "";

export async function bodyOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}
