/**
 * The commands for the server's resources, used as a person would: lists, single items, changes, JSON, shortened ids.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PASSWORD } from "../../testing/accounts.ts";
import { type RunOptions, skep, temporaryFolder } from "../../testing/command.ts";
import { createModelServer } from "../../testing/model-server.ts";
import { startServer, type TestServer } from "../../testing/server.ts";
import { RESOURCES } from "./list.ts";
import { runs } from "./runs.ts";

setDefaultTimeout(300_000);

const folder = temporaryFolder();
const repository = join(folder.path, "bell");
let server: TestServer;
beforeAll(async () => {
  mkdirSync(repository);
  const git = (...args: string[]) =>
    Bun.spawnSync(["git", "-c", "user.name=A", "-c", "user.email=a@example.test", ...args], { cwd: repository });
  git("init", "-q", "-b", "main");
  git("commit", "-q", "--allow-empty", "-m", "Begin");
  server = await startServer({ env: { ALLOW_LOCAL_REPOSITORIES: "true" } });
});
afterAll(async () => {
  await server.remove();
  folder.remove();
});

const cli = (args: readonly string[], options: RunOptions = {}) => skep([...args, "--data", server.data], options);
/** Runs a command that must succeed, and returns what it printed. */
async function runCommand(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await cli(args);
  expect([args.join(" "), stderr, code]).toEqual([args.join(" "), "", 0]);
  return stdout;
}
const json = async (...args: string[]) => JSON.parse(await runCommand(...args, "--json"));
/** Runs a command that must fail, and returns its one line. */
async function expectRefusal(...args: string[]): Promise<string> {
  const { code, stderr } = await cli(args);
  expect([args.join(" "), code]).not.toEqual([args.join(" "), 0]);
  expect(stderr.trimEnd().split("\n")).toHaveLength(1);
  return stderr;
}
const file = (name: string, text: string): string => {
  const path = join(folder.path, name);
  writeFileSync(path, text);
  return path;
};

describe("every list", () => {
  // Voices need a hosted service with a key; see voice.test.ts.
  const lists = [...RESOURCES, runs].filter(({ name, within }) => within === undefined && name !== "voice");
  for (const resource of lists)
    test(`${resource.name}: a head over the rows, or what to do to get the first; the same as JSON`, async () => {
      const { items, next_cursor } = await json(resource.name);
      const [first = "", ...rest] = (await runCommand(resource.name)).trimEnd().split("\n");
      expect(next_cursor).toBeNull();
      if (items.length === 0) expect(first).toBe(resource.empty);
      else {
        for (const { head, optional } of resource.columns) if (!optional) expect(first).toContain(head);
        expect(rest).toHaveLength(items.length);
      }
    });

  test("goes over its pages as far as it is asked to, and says when there is more", async () => {
    for (let at = 0; at < 3; at++) await runCommand("projects", "add", `page-${at}`);
    expect((await json("projects", "--limit", "2")).items).toHaveLength(2);
    expect(await runCommand("projects", "--limit", "2")).toMatch(/More: --limit 4\n$/);
    expect((await json("projects", "--limit", "100")).next_cursor).toBeNull();
    expect(await expectRefusal("projects", "--limit", "none")).toContain("--limit takes a whole number");
    for (let at = 0; at < 3; at++) await runCommand("projects", "delete", `page-${at}`);
  });
});

describe("one of them", () => {
  test("is not meant by an empty word, even if there is only one", async () => {
    await runCommand("projects", "add", "only");
    expect((await json("projects")).items).toHaveLength(1);
    for (const word of ["", " "])
      expect(await expectRefusal("projects", "delete", word)).toMatch(
        /^skep: Name the project: what was given is empty\. List/,
      );
    expect((await json("projects", "only")).name).toBe("only");
    await runCommand("projects", "delete", "only");
  });

  test("is meant by its id, its name, and by any part that only it begins or ends with", async () => {
    const made = await json("projects", "add", "parrot");
    const { id } = made;
    for (const word of [id, "parrot", "par", id.slice(-6), id.slice(0, -1), id.slice("proj_".length, -1)])
      expect([word, (await json("projects", word)).id]).toEqual([word, id]);
    await runCommand("projects", "add", "partridge");
    expect(await expectRefusal("projects", "par")).toContain("par may be any of partridge, parrot");
    expect(await expectRefusal("projects", "parot")).toContain("There is no project parot. Did you mean parrot?");
    expect(await expectRefusal("agents", "enginer")).toContain("Did you mean engineer?");
    expect(await expectRefusal("runs", "run_01h455vb4pex5vsknk084sn02q")).toContain(
      "There is no run run_01h455vb4pex5vsknk084sn02q.",
    );
    // Sets and shows a project's vision.
    const file = join(folder.path, "vision.md");
    writeFileSync(file, "Speaks five languages.\n");
    expect(await runCommand("projects", "vision", "parrot")).toContain("parrot has no vision");
    await runCommand("projects", "vision", "parrot", "--set", file);
    expect(await json("projects", "vision", "parrot")).toEqual({ vision: "Speaks five languages." });
    await runCommand("projects", "vision", "parrot", "--clear");
    expect(await json("projects", "vision", "parrot")).toEqual({ vision: null });
    for (const name of ["parrot", "partridge"]) await runCommand("projects", "delete", name);
  });
});

describe("projects", () => {
  test("are added with their clone, changed and deleted", async () => {
    expect(await runCommand("projects", "add", "--repository", repository)).toMatch(/^bell: cloned, at [0-9a-f]{8}$/m);
    // If work cannot be merged without further settings, this is said before any work is done.
    const loose = join(folder.path, "loose");
    for (const args of [
      ["clone", "-q", repository, loose],
      ["-C", loose, "checkout", "-q", "--detach"],
      // A commit that no branch has: otherwise git assumes that HEAD is the branch at the same commit.
      [
        "-C",
        loose,
        "-c",
        "user.name=A",
        "-c",
        "user.email=a@example.test",
        "commit",
        "-q",
        "--allow-empty",
        "-m",
        "On",
      ],
    ])
      Bun.spawnSync(["git", ...args]);
    expect(await runCommand("projects", "add", "--repository", loose)).toContain("skep projects update loose --branch");
    await runCommand("projects", "delete", "loose");
    expect(await runCommand("projects", "update", "bell", "--description", "Rings")).toMatch(/^description +Rings$/m);
    expect(await runCommand("projects")).toMatch(/^bell +active +ready +[0-9a-f]{8} /m);
    expect((await json("projects", "--status", "archived")).items).toEqual([]);
    expect(await runCommand("projects", "--status", "archived")).toBe("No matching projects.\n");
    expect(await expectRefusal("projects", "--status", "asleep")).toContain("active, paused, archived");
    expect(await runCommand("projects", "delete", "bell")).toBe("deleted project bell\n");
    const away = await cli(["projects", "add", "gone", "--repository", join(folder.path, "nowhere")]);
    expect([away.code, away.stdout]).toEqual([1, expect.stringContaining("skep projects clone gone")]);
    await runCommand("projects", "delete", "gone");
    expect(await expectRefusal("projects", "add")).toContain("Give a name, or --repository URL");
  });

  test("a clone that is there is brought up to date, and the command fails where that fails", async () => {
    const moved = join(folder.path, "moved");
    Bun.spawnSync(["git", "clone", "-q", repository, moved]);
    await runCommand("projects", "add", "--repository", moved);
    expect(await runCommand("projects", "clone", "moved")).toMatch(/^moved: up to date, at [0-9a-f]{8}$/m);
    expect((await json("projects", "clone", "moved")).workspace.state).toBe("ready");
    Bun.spawnSync(["git", "branch", "-m", "main", "trunk"], { cwd: moved });
    const { code, stdout } = await cli(["projects", "clone", "moved"]);
    expect([code, stdout]).toEqual([1, expect.stringContaining("The repository has no branch main any more.")]);
    await runCommand("projects", "delete", "moved");
  });
});

describe("pipelines", () => {
  test("are saved from a file, shown with their steps, printed as they are, and deleted", async () => {
    const text =
      "id: ring\nname: Ring\ninputs: { tone: { required: true } }\nsteps:\n  - { id: ring, agent: scribe, input: Ring }\n";
    const path = file("ring.yml", text);
    expect(await runCommand("pipelines", "save", path)).toBe("saved ring, 1 step\n");
    expect(await runCommand("pipelines", "save", path)).toBe("saved ring, 1 step\n");
    expect(await runCommand("pipelines", "source", "ring")).toBe(text);
    const withReturns = text.replaceAll("\n", "\r\n");
    await runCommand("pipelines", "save", file("ring.yml", withReturns));
    expect(await runCommand("pipelines", "source", "ring")).toBe(withReturns);
    const shown = await runCommand("pipelines", "ring");
    expect(shown).toMatch(/^inputs +tone \(required\)$/m);
    expect(shown).toMatch(/^ring +scribe +the one above$/m);
    await runCommand("pipelines", "delete", "ring");
    expect(await expectRefusal("pipelines", "save", file("bad.yml", "name: none"))).toContain("names no id");
    expect(await expectRefusal("pipelines", "save", join(folder.path, "nowhere.yml"))).toContain("There is no file");
  });
});

describe("notifications", () => {
  test("are set, listed, changed, tested and deleted", async () => {
    const add = ["notifications", "add", "webhook", "bot", "--address", "https://hooks.example.com/secret-path"];
    const made = await json(...add, "--on", "waiting,failed");
    expect(made).toMatchObject({ target: "https://hooks.example.com/…", secret: expect.stringMatching(/^whsec_/) });
    expect(await runCommand("notifications")).toMatch(
      /^bot +webhook +https:\/\/hooks\.example\.com\/… +waiting,failed +on +never/m,
    );
    expect(await expectRefusal("notifications", "add", "ntfy", "x", "--address", "https://ntfy.sh/")).toContain(
      "topic",
    );
    expect((await json("notifications", "edit", "bot", "--on", "ended")).on).toEqual(["ended"]);
    expect(await runCommand("notifications", "disable", "bot")).toMatch(/^state +off$/m);
    expect(await runCommand("notifications", "deliveries", "bot")).toBe("Nothing yet.\n");
    expect(await runCommand("notifications", "delete", "bot")).toBe("deleted channel bot\n");
  });

  test("go to a messenger, whose bot is added before and whose code links a chat", async () => {
    const token = file("token", "12345678:canary-of-a-bot");
    expect(await expectRefusal("messengers", "add", "telegram", "tg")).toContain("--token-file");
    expect(await expectRefusal("messengers", "add", "matrix", "mx", "--token-file", token)).toContain("server");
    // Nothing answers at this address, so the bot is stored but not connected.
    const away = ["--server", "https://telegram.invalid"];
    const bot = await json("messengers", "add", "telegram", "tg", "--token-file", token, ...away);
    expect(bot).toMatchObject({ kind: "telegram", target: "telegram.invalid" });
    expect(await runCommand("messengers")).toMatch(/^tg +telegram/m);
    expect(await runCommand("messengers", "disable", "tg")).toMatch(/^state +off$/m);
    const made = await runCommand("notifications", "add", "messenger", "phone", "--messenger", "tg");
    expect(made).toMatch(/^linked to +nobody yet$/m);
    expect(made).toMatch(/^ +\/link [A-Z2-9]{5}-[A-Z2-9]{5}$/m);
    expect(await runCommand("notifications", "code", "phone")).toMatch(/^ +\/link [A-Z2-9]{5}-[A-Z2-9]{5}$/m);
    expect(await runCommand("messengers", "delete", "tg")).toBe("deleted messenger tg\n");
    expect(await expectRefusal("notifications", "code", "phone")).toContain("phone");
  });
});

describe("routines", () => {
  test("are added, changed, run, looked at over time, and deleted", async () => {
    const add = ["routines", "add", "scribe", "Morning", "--say", "Look around"];
    expect(await expectRefusal(...add)).toContain("Say when");
    expect(await expectRefusal("routines", "add", "scribe", "x", "--every", "5")).toContain("Say what to do");
    expect(await expectRefusal(...add, "--every", "5", "--cron", "0 9 * * *")).toContain("not both");
    expect(await expectRefusal(...add, "--every", "often")).toContain("--every takes a whole number");
    expect(await expectRefusal(...add, "--every", "5", "--blackout", "night")).toContain("22:00-06:00");
    expect(await expectRefusal(...add, "--cron", "0 0 30 2 *")).toContain("never be due");
    expect(await expectRefusal(...add, "--cron", "@daily")).toContain("--cron: Takes five fields: minute, hour, ");
    expect(await expectRefusal(...add, "--cron", "0 9 * * mon-fry")).toContain(
      "--cron: The day of the week cannot be read: mon-fry",
    );
    const night = ["--blackout", "22:00-06:00", "10:00-11:00 sat,sun"];
    const made = await runCommand(...add, "--cron", "0 9 * * mon-fri", "--timezone", "Europe/Berlin", ...night);
    expect(made).toMatch(/^when +0 9 \* \* mon-fri {2}Europe\/Berlin$/m);
    expect(made).toMatch(/^not +22:00-06:00; 10:00-11:00 sat,sun$/m);
    expect(made).toMatch(/^blocked +.*pulse_enabled is false.*: skep agents set scribe pulse_enabled=true$/m);
    const edited = await json("routines", "edit", "Morning", "--every", "30", "--offset", "5", "--blackout", "none");
    expect(edited).toMatchObject({ schedule: { every_minutes: 30, offset_minutes: 5 }, blackouts: [], enabled: true });
    expect(await runCommand("routines")).toMatch(/^Morning +scribe +every 30 min \+ 5 /m);
    expect((await json("routines", "--agent", "lead")).items).toEqual([]);
    expect(await runCommand("routines", "run", "Morning", "--wait")).toMatch(/^succeeded: /);
    expect(await runCommand("routines", "ticks", "Morning")).toMatch(/ succeeded +sess_/);
    expect(await runCommand("routines", "timeline", "scribe")).toMatch(/Morning +planned$/m);
    expect(await runCommand("routines", "disable", "Morning")).toMatch(/^next +off$/m);
    expect(await expectRefusal("routines", "timeline", "scribe", "--from", "soon")).toContain("RFC 3339");
    expect(await runCommand("routines", "delete", "Morning")).toBe("deleted routine Morning\n");
  });
});

describe("agents and skills", () => {
  test("an agent is added, changed, switched and deleted", async () => {
    const prompt = file("ringer.md", "Ring the bell.");
    const made = await runCommand("agents", "add", "ringer", "--prompt", prompt, "--model", "ollama/qwen3");
    expect(made).toMatch(/^model +ollama\/qwen3$/m);
    const set = await json("agents", "set", "ringer", "max_turns=7", "model=null", "tools=read,bash", "network=bridge");
    expect(set.config).toMatchObject({ max_turns: 7, model: null, tools: ["read", "bash"], network: "bridge" });
    expect(await expectRefusal("agents", "set", "ringer", "max_turns=9", "max_turn=null")).toBe(
      "skep: An agent has no field max_turn. Did you mean max_turns?\n",
    );
    expect(await expectRefusal("agents", "set", "ringer", "zz=1")).toContain("It has: name, emoji, role, ");
    expect((await json("agents", "ringer")).config.max_turns).toBe(7);
    expect(await runCommand("agents", "set", "ringer", "role=bell ringer", "budget_usd_per_day=2")).toMatch(
      /^role +bell ringer$/m,
    );
    expect(await runCommand("agents", "disable", "ringer")).toMatch(/^state +off$/m);
    expect(await runCommand("agents", "enable", "ringer")).toMatch(/^state +idle$/m);
    expect(await runCommand("agents", "tool", "ringer", "bash", "off")).toMatch(/^bash +off +override$/m);
    expect(await runCommand("agents", "tool", "ringer", "bash", "default")).toMatch(/^bash +on +its file$/m);
    expect(await expectRefusal("agents", "tool", "ringer", "bash", "perhaps")).toContain("on, off, default");
    await runCommand("agents", "delete", "ringer");
  });

  test("a file with front matter is all that adding a skill needs", async () => {
    const whole = file("SKILL.md", "---\nname: tolling\ndescription: How to toll\n---\nSlowly.\n");
    expect(await runCommand("skills", "add", "--content", whole)).toBe("tolling: saved in _skills/tolling.md\n");
    expect(await runCommand("skills", "tolling")).toMatch(/^description +How to toll$/m);
    const refusal = await expectRefusal("skills", "add", "--content", file("bare.md", "Slowly."));
    expect(refusal).toContain("The skill has no name: give it one, or write it into the front matter of its content");
  });

  test("a skill of everybody and one of an agent may have the same name, and each is meant by its own", async () => {
    const content = file("skill.md", "Ring it.");
    await runCommand(
      "skills",
      "add",
      "ringing",
      "--description",
      "How to ring",
      "--content",
      content,
      "--tags",
      "bell,ring",
    );
    await runCommand("skills", "add", "ringing", "--description", "My way", "--content", content, "--agent", "scribe");
    expect(await runCommand("skills", "scribe/ringing")).toMatch(/^description +My way$/m);
    expect(await runCommand("skills", "ringing")).toMatch(/^tags +bell, ring$/m);
    expect(await runCommand("skills", "disable", "scribe/ringing")).toBe("scribe/ringing: off\n");
    expect((await json("skills", "ringing")).enabled).toBe(true);
    const bytes = join(folder.path, "bytes.md");
    writeFileSync(bytes, new Uint8Array([0xff, 0xfe, 0x41]));
    expect(await expectRefusal("skills", "update", "ringing", "--content", bytes)).toContain(
      "bytes.md is not text in UTF-8",
    );
    await runCommand("skills", "update", "ringing", "--description", "Changed");
    expect((await json("skills", "ringing")).description).toBe("Changed");
    for (const name of ["scribe/ringing", "ringing"]) await runCommand("skills", "delete", name);
  });
});

describe("secrets", () => {
  const VALUE = "canary-5c1f9e0b7d-value";

  test("are set from standard input, a variable or a file, granted and revoked; a value is never printed", async () => {
    const all: string[] = [];
    const run = async (args: string[], options: RunOptions = {}) => {
      const { stdout, stderr, code } = await cli(args, options);
      all.push(stdout, stderr);
      expect([args.join(" "), code]).toEqual([args.join(" "), 0]);
      return stdout;
    };
    await run(["secrets", "set", "BELL_TOKEN", "--type", "token", "--grant", "engineer,scribe"], { stdin: VALUE });
    const set = async (...from: string[]) => run(["secrets", "set", "BELL_TOKEN", ...from], { env: { MINE: VALUE } });
    await set("--value-env", "MINE");
    await set("--value-file", file("value", `${VALUE}\n`));
    expect(await run(["secrets", "revoke", "BELL_TOKEN", "scribe"])).toBe("BELL_TOKEN: taken from scribe\n");
    expect(await run(["secrets", "grant", "bell", "reviewer"])).toContain("granted to engineer, reviewer");
    expect(await run(["secrets"])).toMatch(/^BELL_TOKEN +token +\S*…\S* +variable +engineer, reviewer/m);
    await run(["secrets", "BELL_TOKEN"]);
    const { body } = await server.request<Record<string, string>>("GET", "/v1/secrets/agents/engineer/env");
    expect(body).toEqual({ BELL_TOKEN: VALUE });
    expect(all.join("")).not.toContain(VALUE);
    await run(["secrets", "delete", "BELL_TOKEN"]);
  });

  test("a grant to an agent that does not exist is refused before anything is stored or granted", async () => {
    const set = await cli(["secrets", "set", "OWL_TOKEN", "--grant", "engineer,nobody"], { stdin: VALUE });
    expect(set).toMatchObject({ code: 1, stderr: expect.stringContaining("There is no agent nobody.") });
    expect((await json("secrets")).items).toEqual([]);
    await cli(["secrets", "set", "OWL_TOKEN"], { stdin: VALUE });
    expect(await expectRefusal("secrets", "grant", "OWL_TOKEN", "engineer", "nobody")).toContain("no agent nobody");
    expect((await json("secrets", "OWL_TOKEN")).granted_agents).toEqual([]);
    await runCommand("secrets", "delete", "OWL_TOKEN");
  });

  test("an empty value, and a variable that does not exist, are refused before anything is sent", async () => {
    expect(await expectRefusal("secrets", "set", "X_TOKEN")).toContain("value of X_TOKEN is empty");
    expect(await expectRefusal("secrets", "set", "X_TOKEN", "--value-env", "NOT_THERE")).toContain(
      "NOT_THERE is empty",
    );
  });
});

describe("providers", () => {
  test("a key that the provider refuses is said at once, and its provider is not ready until it has another", async () => {
    const lab = await createModelServer();
    try {
      lab.get("/v1/models", { error: { message: "no" } }, 401);
      const set = ["providers", "set", "custom-lab", "--base-url", `${lab.origin}/v1`, "--key"];
      const wrong = await cli(set, { stdin: "wrong-key-canary" });
      expect([wrong.code, wrong.stdout]).toEqual([1, expect.stringMatching(/stored, but refused: .*refused the key/)]);
      expect(await runCommand("providers", "custom-lab")).toMatch(/^state +key refused$/m);
      lab.get("/v1/models", { data: [{ id: "large" }] });
      const right = await cli(set, { stdin: "right-key-canary" });
      expect([right.code, right.stdout]).toEqual([0, expect.stringMatching(/^custom-lab: ready, key \S+, taken\n$/)]);
      expect(await runCommand("providers")).toMatch(/^custom-lab +ready +1 /m);
      expect(await runCommand("providers", "test", "custom-lab")).toContain("custom-lab/large");
    } finally {
      await lab.stop();
    }
    const away = await cli(["providers", "test", "custom-lab"]);
    expect([away.code, away.stdout]).toEqual([1, expect.stringContaining("no connection")]);
    expect(await runCommand("providers", "custom-lab")).toMatch(/^state +ready$/m);
    await runCommand("providers", "remove", "custom-lab");
  });
});

test("models: window, prices and abilities of one are set, and said wrong in words", async () => {
  expect(
    await runCommand("models", "set", "ollama/own", "--window", "32k", "--images", "yes", "--input-price", "0.5"),
  ).toMatch(/^window +32,768$[\s\S]*^input \$\/M +0\.5$[\s\S]*^can +.*images/m);
  expect(await runCommand("models", "set", "ollama/own", "--window", "auto")).toMatch(/^window +unknown[\s\S]*images/m);
  expect(await expectRefusal("models", "set", "ollama/own", "--window", "much")).toContain(
    '"much" is no number of tokens',
  );
  expect(await expectRefusal("models", "set", "ollama/own")).toContain("Give at least one of");
  await runCommand("models", "set", "ollama/own", "--reset");
});

describe("settings and budgets", () => {
  test("are changed by name and put back; what is unknown is named", async () => {
    expect(await runCommand("settings", "set", "models.default=ollama/qwen3", "limits.max_turns=12")).toBe(
      "models.default    ollama/qwen3\nlimits.max_turns  12\n",
    );
    expect(await runCommand("settings", "models")).toMatch(/^models\.default +ollama\/qwen3$/m);
    expect(await runCommand("settings", "set", "models.default=null")).toBe("models.default  (default)\n");
    expect(await expectRefusal("settings", "set", "models.nothing=1")).toContain("models.nothing is not known");
    expect(await expectRefusal("settings", "set", "models=1")).toContain("GROUP.FIELD=VALUE");
    expect(await expectRefusal("settings", "set", "models.default=nope/x")).toContain("There is no provider nope");
    expect(await expectRefusal("settings", "nothing")).toContain("models, limits");
    expect(await runCommand("budgets")).toContain("skep budgets set");
    expect(await runCommand("budgets", "set", "run_usd=2")).toBe("budgets.run_usd  2\n");
    expect(await runCommand("budgets")).toMatch(/^each run +\$2\.00$/m);
    expect((await json("budgets")).items).toEqual([{ scope: "run", limit_usd: 2 }]);
    // JSON would turn it into null, which would remove the limit.
    expect(await expectRefusal("budgets", "set", "run_usd=1e400")).toContain("run_usd: the number is too large");
    expect(await runCommand("budgets")).toMatch(/^each run +\$2\.00$/m);
    expect(await runCommand("budgets", "set", "run_usd=null")).toBe("budgets.run_usd  (default)\n");
    expect(await runCommand("budgets", "set", "instance_per_day_usd=5")).toBe("budgets.instance_per_day_usd  5\n");
    expect(await runCommand("budgets")).toMatch(/^instance day +\$5\.00 +\$0\.00 +0 %/m);
  });
});

describe("events", () => {
  test("of a run are shown from its start to its end, as lines or as JSON", async () => {
    const { id } = await json("run", "hello", "Greet me");
    const lines = (await runCommand("events", "--run", id, "--json")).trimEnd().split("\n");
    const kinds = lines.map((line) => JSON.parse(line).kind);
    expect([kinds[0], kinds.at(-1)]).toEqual(["run_created", "run_complete"]);
    expect(await runCommand("events", "--run", id.slice(-8))).toMatch(
      /^\d\d:\d\d:\d\d run_created .*\n(.*\n)*.* run_complete /,
    );
    const shown = await json("runs", id);
    expect(shown).toMatchObject({ id, status: "succeeded" });
    expect(shown.steps.map((step: { step_id: string }) => step.step_id)).toEqual(["look", "greet", "check"]);
    const transcript = await runCommand("executions", "transcript", shown.steps[0].session_id);
    expect(transcript).toMatch(/^user\n {2}[\s\S]*^assistant\n[\s\S]*^ {2}· complete /m);
  });
});

describe("the diff of a run", () => {
  test("is a patch that git applies byte for byte, carriage returns included", async () => {
    const script = file(
      "returns.yml",
      `version: 1
steps:
  greet:
    - tool_calls: [{ tool: write, input: { path: "dos.txt", content: "one\\r\\ntwo\\r\\n" } }]
    - tool_calls: [{ tool: complete, input: { outputs: "{{ outputs }}", summary: Done. } }]
default:
  - tool_calls: [{ tool: complete, input: { outputs: "{{ outputs }}", summary: Done. } }]
`,
    );
    const own = await startServer({ env: { ALLOW_LOCAL_REPOSITORIES: "true", DEMO_SCRIPT: script } });
    try {
      const there = ["--data", own.data];
      await skep(["projects", "add", "bell", "--repository", repository, ...there]);
      const ran = await skep(["run", "hello", "Write", "--project", "bell", "--follow", ...there]);
      const [id = ""] = /run_[0-9a-z]{26}/.exec(ran.stdout) ?? [];
      expect(ran.stdout).toContain(`next: skep diff ${id}`);
      // The script lets no step of it write.
      const idle = await skep(["run", "research", "Look", "--project", "bell", "--follow", ...there]);
      expect(idle).toMatchObject({ code: 0, stdout: expect.stringMatching(/\nnext: skep runs run_\w+\n$/) });
      const { stdout: patch } = await skep(["diff", id, ...there]);
      const copy = join(folder.path, "copy");
      expect(Bun.spawnSync(["git", "clone", "-q", repository, copy]).exitCode).toBe(0);
      const applied = Bun.spawnSync(["git", "apply"], { cwd: copy, stdin: Buffer.from(patch) });
      expect({ code: applied.exitCode, patch }).toEqual({ code: 0, patch: expect.stringContaining("+one\r\n") });
      expect(readFileSync(join(copy, "dos.txt"), "utf8")).toBe("one\r\ntwo\r\n");
    } finally {
      await own.remove();
    }
  });
});

describe("accounts", () => {
  let guarded: TestServer;
  const home = join(folder.path, "home");
  const as = (args: readonly string[], stdin = "") =>
    skep([...args, "--data", guarded.data], { stdin, env: { HOME: home, XDG_CONFIG_HOME: home } });
  beforeAll(async () => {
    mkdirSync(home);
    guarded = await startServer({ env: { AUTH_ENABLED: "true" } });
    await as(["admin", "create", "--email", "ann@example.test"], PASSWORD);
    expect((await as(["login", "--email", "ann@example.test"], PASSWORD)).code).toBe(0);
  });
  afterAll(() => guarded.remove());

  test("keys are made, printed alone on standard output, listed and revoked", async () => {
    const made = await as(["keys", "create", "laptop", "--days", "3", "--scope", "read,runs"]);
    expect(made.stdout).toMatch(/^skep_[\w-]{43}\n$/);
    const list = (await as(["keys"])).stdout;
    expect(list).toMatch(/^laptop +\S+ +read, runs +\d{4}-/m);
    expect(list).not.toContain(made.stdout.trim());
    expect((await as(["keys", "revoke", "laptop"])).stdout).toBe("laptop: revoked\n");
    expect((await as(["keys"])).stdout).not.toContain("laptop");
    expect((await as(["keys", "create", "x", "--days", "soon"])).code).toBe(2);
  });

  test("providers of sign-on are added, changed and deleted; their secret is never shown", async () => {
    const issuer = "http://127.0.0.1:9/issuer";
    const add = ["sso", "add", "corp", "--name", "Corp", "--issuer", issuer, "--client-id", "skep", "--secret"];
    const made = await as([...add, "--domains", "example.test", "--auto-create", "yes"], "canary-client-secret");
    expect([made.code, made.stderr]).toEqual([0, ""]);
    expect((await as(["sso"])).stdout).toMatch(/^corp +Corp +on +http\S+ +example\.test$/m);
    expect((await as(["sso", "disable", "corp"])).stdout).toMatch(/^enabled +no$/m);
    expect((await as(["sso", "update", "corp", "--name", "Corporation"])).stdout).toMatch(/^name +Corporation$/m);
    expect(made.stdout + (await as(["sso", "--json"])).stdout).not.toContain("canary-client-secret");
    expect((await as(["sso", "delete", "corp"])).code).toBe(0);
  });

  test("two-factor verification is reported, and its wrong codes refused", async () => {
    expect((await as(["2fa"])).stdout).toBe("ann@example.test: two-factor verification is off\n");
    const wrong = await as(["2fa", "enable"], "000000\n");
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining("█")]);
    expect((await as(["2fa", "--json"])).stdout).toBe('{"two_factor_enabled":false}\n');
  });
});
