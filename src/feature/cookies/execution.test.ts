/** Cookies at work: whose cookies an execution gets, from when until when, and what of them is stored. */
import { afterEach, describe, expect, test } from "bun:test";
import type { Caller } from "../../http/caller.ts";
import { dockerForTests, testImage } from "../../testing/docker-image.ts";
import { createRigs } from "../../testing/engine-rig.ts";
import { createHandModel, type HandCall } from "../../testing/hand-model.ts";
import { OPEN_PROJECTS } from "../../testing/open-projects.ts";
import type { Cookie } from "./netscape.ts";

const rigs = createRigs();
afterEach(rigs.close);
const docker = await dockerForTests(process.env);

const VALUE = "cookie-canary-8be12f";
const cookie: Cookie = {
  domain: "example.com",
  includeSubdomains: false,
  path: "/",
  secure: true,
  httpOnly: true,
  expiresAt: null,
  name: "sid",
  value: VALUE,
};
const as = (userId: string): Caller => ({ kind: "user", admin: false, projects: OPEN_PROJECTS, userId });

async function startRig(env: Record<string, string>) {
  const model = createHandModel();
  const rig = await rigs.startRig({ pipelines: {}, models: model, env });
  const { sessions, cookies } = rig.services;
  return {
    rig,
    cookies,
    /** The first request of that user's chat with the shared agent. */
    async chat(user: string): Promise<HandCall> {
      const { id } = sessions.open({ kind: "chat", agent_id: "worker", user_id: user });
      sessions.queue(id, { input: "Continue", timeout_seconds: 120 });
      return await model.next(id);
    },
    /** The output of a command, as the model reads it. Ends the chat. */
    async readOutput(call: HandCall, command: string): Promise<string> {
      call.reply([{ tool: "bash", input: { command } }]);
      const next = await model.next();
      next.reply("Done");
      return JSON.stringify(next.request.messages.at(-1));
    },
  };
}

describe.skipIf(!docker)("granted cookies in a container", () => {
  test("are there for their owner's work alone, until they are revoked; their values are in nothing that is kept", async () => {
    const env = { SANDBOX: "docker", AGENT_IMAGE: await testImage(docker!), IMAGE_PULL: "false" };
    const { rig, cookies, chat, readOutput } = await startRig(env);
    const { id } = cookies.create("shop", [cookie], as("usr_a"));
    await cookies.grant(id, "worker", as("usr_a"));

    const mine = await chat("usr_a");
    const [path] = /\/run\/skep\/\S+?\.txt/.exec(mine.request.system) ?? [];
    expect(path).toBe("/run/skep/cookies.txt");
    const shown = await readOutput(mine, `cat ${path}; cut -f7 ${path} | tail -n 1 | tr a-z A-Z`);
    expect(shown).toContain(VALUE.toUpperCase());
    expect(shown).toContain("#HttpOnly_example.com");
    expect(shown).not.toContain(VALUE);

    const others = await chat("usr_b");
    expect(others.request.system).not.toContain("cookies");
    expect(await readOutput(others, "ls /run/skep 2>&1 || echo none")).toContain("none");

    cookies.revoke(id, "worker", as("usr_a"));
    const later = await chat("usr_a");
    expect(later.request.system).not.toContain("cookies");
    expect(await readOutput(later, "ls /run/skep 2>&1 || echo none")).toContain("none");
    expect(JSON.stringify(rig.events())).not.toContain(VALUE);
    const read = rig.store.sqlite.prepare("SELECT count(*) FROM audit WHERE action = 'cookies.read'").pluck().get();
    expect(read).toBe(1);
  }, 300_000);
});

test("a process of this machine is given no cookies, and the activity says which it works without", async () => {
  const { rig, cookies, chat, readOutput } = await startRig({ SANDBOX: "process", ALLOW_HOST_SHELL: "true" });
  const { id } = cookies.create("shop", [cookie], as("usr_a"));
  await cookies.grant(id, "worker", as("usr_a"));
  const call = await chat("usr_a");
  expect(call.request.system).not.toContain("cookies");
  await readOutput(call, "true");
  const said = await rig.event(({ kind }) => kind === "activity");
  expect(said).toMatchObject({
    data: { title: "Works without the cookies shop: they are given in containers only." },
    user_id: "usr_a",
  });
});
