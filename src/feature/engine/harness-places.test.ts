/** Wherever an agent works, an external program can drive it, with the same events, cost and stop. */
import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { dockerForTests } from "../../testing/docker-image.ts";
import { framesOf, framesUntil } from "../../testing/event-reader.ts";
import { EXAMPLE, type ExampleAgents, startExampleAgents } from "../../testing/example-agents.ts";
import { MODEL } from "../../testing/metered-server.ts";
import { reply } from "../../testing/model-server.ts";

setDefaultTimeout(300_000);
const docker = await dockerForTests(process.env);
let examples: ExampleAgents;
/** Ids of agents by what they do. */
const AGENTS = ["works", "begins", "hears"];
beforeAll(async () => {
  if (!docker) return;
  examples = await startExampleAgents(docker);
  for (const id of AGENTS)
    await must("POST", "/v1/agents", {
      id,
      model: MODEL,
      prompt: `MODE: ${id}\n.`,
      harness: { acp: EXAMPLE, image: examples.image },
      memory_mb: 512,
    });
});
afterAll(() => examples?.remove());
beforeEach(() => examples?.metered.models.next(reply({ text: "Go on.", usage: { input: 10, output: 1_000 } })));

async function must<T = { id: string }>(method: string, path: string, body?: object): Promise<T> {
  const { status, body: answer } = await examples.metered.call<T>(method, path, body);
  if (status >= 300) throw new Error(`${method} ${path} answered ${status}: ${JSON.stringify(answer)}`);
  return answer;
}
interface Frame {
  kind: string;
  session_id?: string;
  data?: Record<string, unknown>;
}
const until = (query: string, fits: (frame: Frame) => boolean) =>
  framesUntil(
    framesOf<Frame>(examples.metered.server, `/v1/events/stream?${query}&after=0`, examples.metered.admin.token),
    ({ data }) => fits(data),
  );

interface Begun {
  session: string;
  stop(): Promise<unknown>;
  /** What the place shows once the session has ended. */
  waitForEnd(): Promise<{ status: string; cost_usd?: number }>;
}

/** The session of the run's only step, once it has begun. */
async function ofRun({ id }: { id: string }): Promise<Begun> {
  const frames = await until(`run_id=${id}`, ({ kind }) => kind === "step_started");
  return {
    session: frames.at(-1)!.data.session_id!,
    stop: () => must("POST", `/v1/runs/${id}/cancel`),
    async waitForEnd() {
      await until(`run_id=${id}`, ({ kind }) => /^run_(complete|failed|cancelled)$/.test(kind));
      return must("GET", `/v1/runs/${id}`);
    },
  };
}

const PLACES: Record<string, (agent: string) => Promise<Begun>> = {
  async "a step of a pipeline"(agent) {
    const id = `of-${agent}`;
    const steps = [{ id: "work", agent, input: "Do it." }];
    await must("POST", "/v1/pipelines", { id, name: id, steps });
    return ofRun(await must("POST", "/v1/runs", { pipeline_id: id, task_description: "it" }));
  },
  async "a task of a board"(agent) {
    const project = await must("POST", "/v1/projects", { name: `of ${agent}` });
    const tasks = `/v1/projects/${project.id}/tasks`;
    const task = await must("POST", tasks, { title: "Do it", assigned_agent: agent });
    return ofRun(await must("POST", `${tasks}/${task.id}/execute`));
  },
  async "a swarm"(agent) {
    const tasks = [{ key: "one", prompt: "Do it." }];
    const { id } = await must("POST", "/v1/swarm/execute", { agent_id: agent, tasks });
    await until(`swarm_id=${id}`, ({ kind }) => kind === "swarm_task_started");
    const { items } = await must<{ items: { session_id: string }[] }>("GET", `/v1/swarm/${id}/tasks`);
    return {
      session: items[0]!.session_id,
      stop: () => must("POST", `/v1/swarm/${id}/cancel`),
      async waitForEnd() {
        await until(`swarm_id=${id}`, ({ kind }) => kind === "swarm_complete");
        return must("GET", `/v1/swarm/${id}`);
      },
    };
  },
  async "a routine"(agent) {
    const path = `/v1/pulse-routines/${agent}`;
    const routine = { name: "Look", instructions: "Do it.", schedule: { every_minutes: 44_640 }, enabled: false };
    const { id } = await must("POST", path, routine);
    const tick = await must<{ id: string; session_id: string }>("POST", `${path}/${id}/trigger`);
    return {
      session: tick.session_id,
      stop: () => must("POST", `${path}/${id}/ticks/${tick.id}/cancel`),
      async waitForEnd() {
        const ends = (kind: string) => kind === "pulse_complete" || kind === "pulse_failed";
        await until(`session_id=${tick.session_id}`, ({ kind }) => ends(kind));
        return must("GET", `${path}/${id}/ticks/${tick.id}`);
      },
    };
  },
};

/** The kinds of events in a session's transcript, wherever it works. */
const EVENTS = ["session_started", "agent_thinking", "llm_call", "tool_call_start", "tool_call_end", "agent_output"];

describe.skipIf(!docker)("an agent that a program drives", () => {
  test.each(Object.keys(PLACES))("works in %s: its events, its cost and its end", async (place) => {
    const begun = await PLACES[place]!("works");
    const frames = await until(`session_id=${begun.session}`, ({ kind }) => kind === "session_ended");
    const kinds = new Set(frames.map(({ data }) => data.kind));
    expect([...kinds]).toEqual(expect.arrayContaining(EVENTS));
    const shown = await begun.waitForEnd();
    expect(shown.status).toBe("succeeded");
    if ("cost_usd" in shown) expect(shown.cost_usd).toBe(0.1);
    const calls = await must<{ items: { cost_usd: number }[] }>("GET", `/v1/llm-calls?session_id=${begun.session}`);
    expect(calls.items.map(({ cost_usd }) => cost_usd)).toEqual([0.1]);
  });

  test.each(Object.keys(PLACES))(
    "is stopped in %s in the midst of its turn, and its container is gone",
    async (place) => {
      const begun = await PLACES[place]!("begins");
      await until(`session_id=${begun.session}`, ({ kind }) => kind === "tool_call_start");
      await begun.stop();
      await until(`session_id=${begun.session}`, ({ kind }) => kind === "session_ended");
      expect((await begun.waitForEnd()).status).toBe("cancelled");
      const listLeft = () => docker!.containers.list([`skep.session=${begun.session}`]);
      while ((await listLeft()).length > 0) await Bun.sleep(20);
    },
  );

  test.each(["queue", "steer"])("is told in its next turn what a person says while it works (%s)", async (mode) => {
    const asked = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const waitForRelease = async () => {
      asked.resolve();
      await release.promise;
    };
    examples.metered.models.answerBy(() => ({ kind: "reply", reply: { text: "Yes." }, until: waitForRelease }));
    const chat = await must("POST", "/v1/chat/sessions", { agent_id: "hears" });
    const path = `/v1/chat/sessions/${chat.id}`;
    await must("POST", `${path}/message`, { message: "the first thing to do" });
    await asked.promise;
    await must("POST", `${path}/message`, { message: "the second thing now", mode });
    release.resolve();
    let said = "";
    await until(`session_id=${chat.id}`, ({ kind, data }) => {
      if (kind === "agent_output") said += data?.["text"] ?? "";
      return said.includes("heard the second thing now");
    });
    expect(said).toStartWith("heard he first thing to do");
  });
});
