/** A server whose agents call a model with a price, for tests of what runs cost and who pays. */
import { type Account, makeUser, setupAdmin } from "./accounts.ts";
import { createModelServer, type ModelServer } from "./model-server.ts";
import { startServer, type TestServer } from "./server.ts";

/** USD per million tokens of output; input is free. A reply of 1,000 tokens costs $0.1. */
const OUTPUT_USD_PER_MTOK = 100;
export const MODEL = "custom-lab/m";
export const SHARED_KEY = "sk-instance-key-of-everybody";

/** The reply with which an agent ends its step. */
export const DONE = { toolCalls: [{ name: "complete", input: { summary: "done" } }] };

export interface EndedRun {
  id: string;
  status: string;
  cost_usd: number;
  budget_usd: number | null;
  error: { code: string; message: string; step_id?: string } | null;
  /** The run's events, as the stream sent them. */
  events: { kind: string; user_id?: string; data: Record<string, unknown> }[];
}

export interface MeteredServer {
  server: TestServer;
  models: ModelServer;
  admin: Account;
  user: Account;
  call<T = Record<string, unknown>>(
    method: string,
    path: string,
    body?: unknown,
    who?: Account,
  ): Promise<{ status: number; body: T }>;
  /** Creates a pipeline of one step with a new agent. @returns its id. */
  pipeline(defaults?: Record<string, unknown>, agent?: Record<string, unknown>): Promise<string>;
  run(pipeline: string, who?: Account, more?: Record<string, unknown>): Promise<EndedRun>;
  remove(): Promise<void>;
}

export async function startMeteredServer(env: Record<string, string> = {}): Promise<MeteredServer> {
  const models = await createModelServer();
  const server = await startServer({ env: { AUTH_ENABLED: "true", ...env } });
  const admin = await setupAdmin(server);
  const user = await makeUser(server, admin, "user@example.test");
  const call: MeteredServer["call"] = (method, path, body, who = admin) =>
    server.request(method, path, { token: who.token, body });
  const must = async (method: string, path: string, body: unknown) => {
    const { status, body: answer } = await call(method, path, body);
    if (status >= 300) throw new Error(`${method} ${path} answered ${status}: ${JSON.stringify(answer)}`);
  };
  await must("PUT", "/v1/settings/providers/custom-lab", {
    base_url: `${models.origin}/v1`,
    api_key: SHARED_KEY,
    models: [{ id: "m", input_usd_per_mtok: 0, output_usd_per_mtok: OUTPUT_USD_PER_MTOK, context_window: 200_000 }],
  });
  let made = 0;
  const eventsOf = async (id: string, who: Account): Promise<EndedRun["events"]> => {
    const { body } = await server.request<string>("GET", `/v1/events/stream?run_id=${id}&after=0`, {
      token: who.token,
    });
    return body.split("\n").flatMap((line) => (line.startsWith("data: ") ? [JSON.parse(line.slice(6))] : []));
  };
  return {
    server,
    models,
    admin,
    user,
    call,
    async pipeline(defaults, agent = {}) {
      const id = `metered-${++made}`;
      await must("POST", "/v1/agents", { id, prompt: "You work.", model: MODEL, ...agent });
      const steps = [{ id: "work", agent: id, input: "Do it." }];
      await must("POST", "/v1/pipelines", { id, name: id, ...(defaults ? { defaults } : {}), steps });
      return id;
    },
    async run(pipeline_id, who = admin, more = {}) {
      const created = await call<EndedRun>("POST", "/v1/runs", { pipeline_id, task_description: "it", ...more }, who);
      if (created.status !== 201) throw new Error(`it answered ${created.status}: ${JSON.stringify(created.body)}`);
      const events = await eventsOf(created.body.id, who);
      const { body } = await call<EndedRun>("GET", `/v1/runs/${created.body.id}`, undefined, who);
      return { ...body, events };
    },
    async remove() {
      await server.remove();
      await models.stop();
    },
  };
}
