/** `skep harness-logins`: your own log-ins of external agents. They are never an argument and never shown. */
import type { RowOf } from "../../api/types.ts";
import { badUsage } from "../../core/errors.ts";
import { hasOwnLogin, OWN_LOGIN_NAMES, type OwnLoginName } from "../../core/harness-names.ts";
import { readSecret } from "../read-input.ts";
import { fieldLines, timeText } from "../terminal/table.ts";
import { type Answer, type Call, type Resource, verbMakers } from "./resource.ts";
import { assertMeant, listOf, YES } from "./words.ts";

type List = "/v1/settings/harness-logins";
type Item = RowOf<List>;
const { actOnList } = verbMakers<List>();

const HARNESS = { name: "<harness>", about: `external agent: ${OWN_LOGIN_NAMES.join(", ")}` };
const pathOf = (name: string) => `/v1/settings/harness-logins/${name}` as const;

export const harnessLogins: Resource<List> = {
  name: "harness-logins",
  one: "harness",
  about: "list your own log-ins of external agents, for agents with `credentials: own`; or show one",
  path: "/v1/settings/harness-logins",
  idOf: ({ harness }) => harness,
  columns: [
    { head: "HARNESS", of: ({ harness }) => harness },
    { head: "LOG-IN", of: ({ masked_login }) => masked_login },
    { head: "AGENTS", of: ({ agents }) => agents.join(", ") || "none", shrinks: true },
    { head: "LAST USED", of: ({ last_used_at }) => timeText(last_used_at) || "never" },
  ],
  empty: "No log-ins. External agents ask Skep's gateway. Store one: skep harness-logins set HARNESS --file FILE",
  show: async (item) => linesOf(item),
  verbs: [
    actOnList("set", "store a log-in, or choose the agents that may use it", {
      args: [HARNESS],
      options: [
        { flags: "--file <path>", about: "file with the log-in; - for standard input" },
        { flags: "--login-env <name>", about: "take the log-in from this environment variable" },
        {
          flags: "--agents <ids>",
          about: "ids of agents that may use the log-in, separated by commas; * for all that you start",
        },
      ],
      run: set,
    }),
    actOnList("remove", "delete a log-in; work that is running keeps it until it ends", {
      args: [HARNESS],
      options: [YES],
      async run({ client, args: [given = ""], flags }) {
        const name = nameIn(given);
        await assertMeant(`Delete your log-in of ${name}?`, flags);
        await client.call("DELETE", pathOf(name));
        return { json: { harness: name, removed: true }, text: `${name}: log-in deleted` };
      },
    }),
  ],
};

function nameIn(given: string): OwnLoginName {
  if (hasOwnLogin(given)) return given;
  const all = OWN_LOGIN_NAMES.join(", ");
  throw badUsage(`There are no log-ins of ${given}. There are: ${all}.`);
}

async function set({ client, args: [given = ""], flags }: Call): Promise<Answer> {
  const name = nameIn(given);
  const { file, loginEnv: env, agents } = flags;
  if (file !== undefined && env !== undefined) throw badUsage("Give --file or --login-env, not both.");
  const isGiven = file !== undefined || env !== undefined || agents === undefined;
  const from = env === undefined ? { file } : { env };
  const login = isGiven ? await readSecret(`log-in of ${name}`, from) : undefined;
  const item = await client.call("PUT", pathOf(name), {
    ...(login === undefined ? {} : { login }),
    ...(agents === undefined ? {} : { agents: listOf(agents) }),
  });
  return { json: item, text: linesOf(item) };
}

const linesOf = (item: Item): string[] => [
  ...fieldLines([
    ["harness", item.harness],
    ["log-in", item.masked_login],
    ["agents", item.agents.join(", ") || "none yet: --agents NAME,NAME"],
    ["reaches", item.hosts.join(", ")],
    ["last used", timeText(item.last_used_at) || "never"],
  ]),
  "",
  item.not_held,
];
