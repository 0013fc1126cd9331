/**
 * JavaScript and TypeScript: finds the package manager, the version of Node.js, and the command that runs the tests.
 */
import { entriesOfObject, textIn } from "../../core/is-object.ts";
import { readMembers } from "../../core/json-reader.ts";
import type { Environment } from "./model.ts";
import { present, type Stack, type TextOf } from "./stack.ts";

const YARN_WAY =
  'YARN_HTTP_PROXY="$HTTP_PROXY" YARN_HTTPS_PROXY="$HTTPS_PROXY" YARN_NPM_REGISTRY_SERVER="$(npm config get registry)"';
/** Part of the test script that npm writes when nobody has written one. */
const NO_TEST = "no test specified";
const USUAL_NODE = 22;
/** Names of Node's long-term-support releases, as `.nvmrc` writes them, with their major versions. */
const NODE_NAMES: Readonly<Record<string, number>> = { hydrogen: 18, iron: 20, jod: 22, krypton: 24 };

const VERSION_FILES = [".nvmrc", ".node-version"] as const;
const NPM_LOCKS = ["package-lock.json", "npm-shrinkwrap.json"] as const;
const BUN_LOCKS = ["bun.lock", "bun.lockb"] as const;
export const JAVASCRIPT_FILES = [
  "package.json",
  ...VERSION_FILES,
  ...NPM_LOCKS,
  ...BUN_LOCKS,
  "pnpm-lock.yaml",
  "pnpm-workspace.yaml",
  "yarn.lock",
  ".yarnrc.yml",
] as const;

interface Tool {
  /** The files that showed which tool is used. */
  files: string[];
  /** The package that installs the tool; undefined when the image already has it. */
  package?: string;
  install: string;
  test: string;
  /** Runs the tests of all workspaces; undefined when no command does so in every version of the tool. */
  testAll?: string;
  env?: Record<string, string>;
  /** Hosts that its lock file names, besides npm's registry. */
  hosts?: string[];
}

export function detectJavascript(textOf: TextOf): Stack | undefined {
  const text = textOf("package.json");
  if (text === undefined) return undefined;
  const manifest = readMembers(text);
  const tool = toolOf(textOf, manifest);
  const versions = present(textOf, VERSION_FILES);
  const definition: Environment = { image: `node:${nodeFor(textOf, manifest)}` };
  if (tool.env) definition.env = tool.env;
  if (tool.files.length > 0 || hasDependencies(manifest)) {
    definition.setup = setupOf(tool, manifest);
    definition.network = { allow: ["npm", ...(tool.hosts ?? [])] };
  }
  const check = checkOf(tool, manifest, textOf);
  if (check !== undefined) definition.check = check;
  return { files: ["package.json", ...versions, ...tool.files], definition };
}

/** The package manager: found by its lock file, else by the field `packageManager`. */
function toolOf(textOf: TextOf, manifest: Record<string, unknown>): Tool {
  const [, manager, version] =
    /^(npm|pnpm|yarn|bun)@(\d{1,4}\.\d{1,4}\.\d{1,4}(?:-[\w.]{1,40})?)(?:\+|$)/.exec(
      textIn(manifest, "packageManager") ?? "",
    ) ?? [];
  const versionOf = (name: string) => (name === manager ? version : undefined);
  const [npm, bun] = [present(textOf, NPM_LOCKS), present(textOf, BUN_LOCKS)];
  if (textOf("pnpm-lock.yaml") !== undefined || manager === "pnpm") return buildPnpm(textOf, versionOf("pnpm"));
  if (textOf("yarn.lock") !== undefined || manager === "yarn") return buildYarn(textOf, versionOf("yarn"));
  if (bun.length > 0 || manager === "bun")
    return {
      files: bun,
      package: `bun@${versionOf("bun") ?? "1"}`,
      install: addLockFlag("bun install", bun, "--frozen-lockfile"),
      test: "bun run test",
    };
  const every = "npm test --workspaces --if-present";
  return { files: npm, install: npm.length > 0 ? "npm ci" : "npm install", test: "npm test", testAll: every };
}

const addLockFlag = (command: string, locks: readonly string[], flag: string): string =>
  locks.length > 0 ? `${command} ${flag}` : command;

function buildPnpm(textOf: TextOf, version: string | undefined): Tool {
  const lock = textOf("pnpm-lock.yaml");
  // Each major version of pnpm reads the lock file's format of its time.
  const form = Number(/^lockfileVersion: '?(\d{1,3})/m.exec(lock?.slice(0, 1_000) ?? "")?.[1] ?? "9");
  const major = form >= 9 ? "10" : form >= 6 ? "8" : "7";
  const files = present(textOf, ["pnpm-lock.yaml"]);
  return {
    files,
    package: `pnpm@${version ?? major}`,
    install: addLockFlag("pnpm install", files, "--frozen-lockfile"),
    test: "pnpm test",
    testAll: "pnpm --recursive --if-present run test",
  };
}

function buildYarn(textOf: TextOf, version: string | undefined): Tool {
  const files = present(textOf, ["yarn.lock"]);
  const head = textOf("yarn.lock")?.slice(0, 1_000) ?? "";
  const isClassic = version === undefined ? textOf(".yarnrc.yml") === undefined : version.startsWith("1.");
  if (isClassic && !head.includes("__metadata:"))
    return {
      files,
      package: `yarn@${version ?? "1"}`,
      install: addLockFlag("yarn install", files, "--frozen-lockfile"),
      test: "yarn test",
      hosts: ["registry.yarnpkg.com"],
    };
  return {
    files: [...files, ...present(textOf, [".yarnrc.yml"])],
    package: `@yarnpkg/cli-dist@${version ?? "4"}`,
    // Yarn reads neither the usual proxy variables nor npm's configuration.
    install: `${YARN_WAY} ${addLockFlag("yarn install", files, "--immutable")}`,
    test: "yarn test",
    // Files in the home are lost with the sandbox; packages beside the work stay.
    env: { YARN_ENABLE_GLOBAL_CACHE: "false" },
  };
}

/** `--force`: some images already contain the tool, and the version that the repository names replaces it. */
function setupOf(tool: Tool, manifest: Record<string, unknown>): string {
  const prepare = textIn(manifest["scripts"], "prepare") ?? textIn(manifest["scripts"], "postinstall") ?? "";
  // Disables git hooks, because there is no git repository while the code is set up.
  const install = prepare.includes("husky") ? `HUSKY=0 ${tool.install}` : tool.install;
  return tool.package === undefined ? install : `npm install --global --force ${tool.package} && ${install}`;
}

function checkOf(tool: Tool, manifest: Record<string, unknown>, textOf: TextOf): string | undefined {
  const test = textIn(manifest["scripts"], "test") ?? NO_TEST;
  if (!test.includes(NO_TEST)) return tool.test;
  const hasParts = manifest["workspaces"] !== undefined || textOf("pnpm-workspace.yaml") !== undefined;
  return hasParts ? tool.testAll : undefined;
}

const hasDependencies = (manifest: Record<string, unknown>): boolean =>
  manifest["workspaces"] !== undefined ||
  ["dependencies", "devDependencies", "optionalDependencies"].some(
    (name) => entriesOfObject(manifest[name]).length > 0,
  );

function nodeFor(textOf: TextOf, manifest: Record<string, unknown>): number {
  const wanted = VERSION_FILES.map(textOf).find((text) => text !== undefined);
  const exact = wanted === undefined ? undefined : exactNode(wanted.slice(0, 100));
  return exact ?? nodeIn((textIn(manifest["engines"], "node") ?? "").slice(0, 200));
}

function exactNode(text: string): number | undefined {
  const name = /lts\/([a-z]{1,20})/.exec(text)?.[1];
  if (name !== undefined) return NODE_NAMES[name];
  const number = /\d{1,3}/.exec(text)?.[0];
  return number === undefined ? undefined : Number(number);
}

/** The usual major version if the range allows it, else the newest that the range names. */
function nodeIn(range: string): number {
  const allowed = range.split("||").map(boundsOf);
  if (allowed.some(([low, high]) => low <= USUAL_NODE && USUAL_NODE <= high)) return USUAL_NODE;
  return Math.max(...allowed.map(([low, high]) => (Number.isFinite(high) ? high : low)));
}

/** The lowest and highest major version that one part of a range allows. */
function boundsOf(part: string): [low: number, high: number] {
  let [low, high] = [0, Number.POSITIVE_INFINITY];
  for (const [, sign = "", digits = "", rest = ""] of part.matchAll(
    /([<>=^~]{0,2})\s{0,4}v?(\d{1,3})((?:\.[\dx*]{1,4}){0,2})/g,
  )) {
    const major = Number(digits);
    if (sign.startsWith(">")) low = Math.max(low, major);
    else if (sign === "<=") high = Math.min(high, major);
    else if (sign === "<") high = Math.min(high, /[1-9]/.test(rest) ? major : major - 1);
    else [low, high] = [major, major];
  }
  return [low, high];
}
