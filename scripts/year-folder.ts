/** Creates a data folder with a year's data: runs copied from three real ones, and other objects created over HTTP. */
import { join } from "node:path";
import { startServer, type TestServer } from "../src/testing/server.ts";
import { fillYear } from "../src/testing/year-data.ts";

/** How many objects of each kind are created over HTTP. */
const OTHERS = 250;

/** @returns the number of rows by table, and how long writing them took. */
export async function fillFolder(
  data: string,
  runs: number,
): Promise<{ rows: Record<string, number>; tookMs: number }> {
  const server = await startServer({ data, env: { RATE_LIMIT: "0" } });
  for (let n = 0; n < 3; n++) {
    const body = { pipeline_id: "hello", task_description: "Say what is here." };
    const { id } = (await server.request<{ id: string }>("POST", "/v1/runs", { body })).body;
    const events = await fetch(`${server.url}/v1/events/stream?run_id=${id}`);
    await events.text();
  }
  await server.stop();
  const agents = ["scribe", "lead", "architect", "engineer", "reviewer", "researcher"];
  const owners = [null, "usr_first", "usr_second"];
  const began = performance.now();
  const rows = fillYear(join(data, "skep.db"), { runs, events: 186_000, owners, agents, pipelines: ["hello"] });
  return { rows, tookMs: performance.now() - began };
}

/** Creates the objects that runs do not create. @returns ids that fill in the parameters of paths, by prefix. */
export async function fillOthers(server: TestServer): Promise<[prefix: string, id: string][]> {
  const post = async (path: string, body: unknown): Promise<string | undefined> => {
    const answer = await server.request<{ id?: string; detail?: string }>("POST", path, { body });
    // A user can have at most 50 objects of some kinds.
    if (answer.status >= 300 && answer.status !== 409)
      throw new Error(`POST ${path}: ${answer.status} ${answer.body.detail}`);
    return answer.body.id;
  };
  const project = (await post("/v1/projects", { name: "A year" })) ?? "";
  const last: Record<string, string | undefined> = {};
  for (let n = 0; n < OTHERS; n++) {
    const title = `Number ${n}`;
    last["task"] = await post(`/v1/projects/${project}/tasks`, { title, description: "What is to be done." });
    last["chat"] = await post("/v1/chat/sessions", { agent_id: "scribe", title });
    const form = new FormData();
    form.set("file", new File([`# ${title}\n\nWhat it says.\n`], `${n}.md`, { type: "text/markdown" }));
    last["document"] = await post("/v1/ingest/document", form);
    last["routine"] ??= await post("/v1/pulse-routines/scribe", {
      name: title,
      schedule: "0 9 * * 1",
      instructions: title,
    });
    await post("/v1/memory/vaults/scribe/entries", { title, content: `What the scribe knows of number ${n}.` });
    await post("/v1/notification-channels", {
      name: title,
      kind: "webhook",
      url: `https://example.com/${n}`,
      enabled: false,
    });
    const server = { id: `server-${n}`, transport: "http", url: `https://example.com/${n}`, enabled: false };
    last["server"] = await post("/v1/mcp", server);
  }
  const found: [string, string | undefined][] = [
    [`/v1/projects/${project}/tasks/`, last["task"]],
    ["/v1/projects/", project],
    ["/v1/chat/sessions/", last["chat"]],
    ["/v1/documents/", last["document"]],
    [`/v1/pulse-routines/scribe/`, last["routine"]],
    ["/v1/mcp/", last["server"]],
  ];
  return found.filter((one): one is [string, string] => one[1] !== undefined);
}
