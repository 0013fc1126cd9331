/**
 * The npm packages of external agents, at the versions that this version of Skep was tested with. They are installed
 * without install scripts and packed into a tar that is extracted over an image's file system.
 */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { badUsage, Problem } from "../core/errors.ts";
import { HARNESS_NAMES, type HarnessName } from "../core/harness-names.ts";

interface Published {
  /** Versions by package name. */
  packages: Readonly<Record<string, string>>;
  /** Paths in `node_modules` by program name. */
  programs: Readonly<Record<string, string>>;
}

/** The processor's name in npm packages. */
const ARCH = process.arch === "arm64" ? "arm64" : "x64";

const PUBLISHED: Record<HarnessName, Published> = {
  opencode: {
    packages: { [`opencode-linux-${ARCH}`]: "1.18.33" },
    programs: { opencode: `opencode-linux-${ARCH}/bin/opencode` },
  },
  codex: {
    packages: { "@openai/codex": "0.169.0", "@agentclientprotocol/codex-acp": "2.6.0" },
    programs: { codex: ".bin/codex", "codex-acp": ".bin/codex-acp" },
  },
  "claude-code": {
    packages: { "@agentclientprotocol/claude-agent-acp": "0.101.0" },
    programs: { "claude-agent-acp": ".bin/claude-agent-acp" },
  },
  gemini: { packages: { "@google/gemini-cli": "0.61.0" }, programs: { gemini: ".bin/gemini" } },
  qwen: { packages: { "@qwen-code/qwen-code": "0.24.4" }, programs: { qwen: ".bin/qwen" } },
  pi: {
    packages: { "pi-acp": "0.0.34", "@mariozechner/pi-coding-agent": "0.73.1" },
    programs: { "pi-acp": ".bin/pi-acp", pi: ".bin/pi" },
  },
};

/** Folder of the packages in the image. */
const FOLDER = "opt/harness";

/** @throws Problem 422 `bad_usage` for an unknown name. */
export function harnessesIn(text: string): HarnessName[] {
  return text.split(",").map((given) => {
    const name = HARNESS_NAMES.find((one) => one === given.trim());
    if (name) return name;
    throw badUsage(`There is no external agent ${given}. There are: ${HARNESS_NAMES.join(", ")}.`);
  });
}

/** Installs and packs the packages. @throws Problem 422 `npm_missing`, or `harness_failed` with npm's last output. */
export async function harnessFiles(names: readonly HarnessName[], onLine: (line: string) => void) {
  if (!Bun.which("npm"))
    throw new Problem(
      422,
      "npm_missing",
      "npm is not on this machine, and the programs come from npm: apt install npm.",
    );
  const work = mkdtempSync(join(tmpdir(), "skep-harness-"));
  const remove = () => rmSync(work, { recursive: true, force: true });
  try {
    const root = join(work, "root");
    const folder = join(root, FOLDER);
    const programs = join(root, "usr/local/bin");
    for (const path of [folder, programs]) mkdirSync(path, { recursive: true, mode: 0o755 });
    const dependencies = Object.fromEntries(names.flatMap((name) => Object.entries(PUBLISHED[name].packages)));
    // Overrides make other packages use these versions, too, when they depend on the same package.
    const overrides = Object.fromEntries(Object.keys(dependencies).map((name) => [name, `$${name}`]));
    writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, dependencies, overrides }));
    const npm = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--os=linux", "--prefix", folder];
    await run(npm, onLine);
    for (const name of names)
      for (const [program, path] of Object.entries(PUBLISHED[name].programs))
        symlinkSync(`/${FOLDER}/node_modules/${path}`, join(programs, program));
    const tar = join(work, "harness.tar");
    await run(["tar", "-C", root, "--owner=0", "--group=0", "--numeric-owner", "-cf", tar, "."], onLine);
    return {
      /** Path of a tar, to be extracted over the root of a file system that has node. */
      tar,
      remove,
    };
  } catch (error) {
    remove();
    throw error;
  }
}

const TAIL_CHARACTERS = 600;

function run([program = "", ...args]: string[], onLine: (line: string) => void): Promise<void> {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  const onOutput = (text: string) => {
    said = (said + text).slice(-TAIL_CHARACTERS);
    const line = text.trim().split("\n").at(-1);
    if (line) onLine(line);
  };
  child.stdout.setEncoding("utf8").on("data", onOutput);
  child.stderr.setEncoding("utf8").on("data", onOutput);
  const createProblem = (why: string) => new Problem(422, "harness_failed", `${program} ${why}: ${said.trim()}`);
  return new Promise((resolve, reject) => {
    child.on("error", (error) => reject(createProblem(`cannot be run (${error.message})`)));
    child.on("close", (code) => (code === 0 ? resolve() : reject(createProblem(`ended with ${code}`))));
  });
}
