/** What `skep doctor` reports: one finding per check, with the remedy where there is one. */

import { DAY_MS, HOUR_MS } from "../../core/clock.ts";
import type { Config } from "../../core/config.ts";

type Verdict = "ok" | "warn" | "fail";

export interface Finding {
  /** A stable word, such as `docker`. */
  check: string;
  verdict: Verdict;
  /** What was found, in one line. */
  detail: string;
  /** What to do about it: a command where possible. */
  remedy?: string;
}

export interface Report {
  /** The worst of the findings. */
  verdict: Verdict;
  findings: Finding[];
  /** The limits of this build; each name ends in its unit. */
  limits: { name: string; value: number; text: string }[];
}

export const pass = (check: string, detail: string): Finding => ({ check, verdict: "ok", detail });
export const warn = (check: string, detail: string, remedy: string): Finding => ({
  check,
  verdict: "warn",
  detail,
  remedy,
});
export const fail = (check: string, detail: string, remedy: string): Finding => ({
  check,
  verdict: "fail",
  detail,
  remedy,
});

export function findWorst(findings: readonly Finding[]): Verdict {
  const has = (verdict: Verdict) => findings.some((finding) => finding.verdict === verdict);
  return has("fail") ? "fail" : has("warn") ? "warn" : "ok";
}

interface WrittenFile {
  /** Path relative to the folder of agents. */
  file: string;
  problems: readonly { line: number; column: number; message: string }[];
}

/** How many broken files are named; further ones are only counted. */
const NAMED = 5;

/** Reports on files that people wrote, each broken file with its first problem. @param what such as `agents`. */
export function checkFiles(what: "agents" | "pipelines" | "skills", files: readonly WrittenFile[]): Finding {
  const broken = files.filter(({ problems }) => problems.length > 0);
  if (broken.length === 0) return pass(what, `${files.length}, without a problem`);
  const named = broken
    .slice(0, NAMED)
    .map(({ file, problems: [first] }) => `${file}:${first?.line}: ${first?.message}`);
  const more = broken.length > NAMED ? ` and ${broken.length - NAMED} more` : "";
  const say = what === "skills" ? warn : fail;
  return say(
    what,
    `${broken.length} of ${files.length} are broken: ${named.join(" ")}${more}`,
    "skep check on these files lists every problem",
  );
}

/** @param found `makeable`: whether this server builds the image itself, and can build it now. */
export function imageFinding(image: string, found: { present: boolean; makeable: boolean; pull: boolean }): Finding {
  if (found.present) return pass("agent image", `${image} is there`);
  if (found.makeable) return pass("agent image", `${image} is made when it is first needed`);
  const remedy = "skep image build, or skep image load FILE";
  const isOurs = image.startsWith("skep/");
  if (found.pull && !isOurs)
    return warn("agent image", `${image} is not on this engine; it is pulled when it is first needed`, remedy);
  return fail("agent image", `${image} is not on this engine, and cannot be had: nothing runs in containers`, remedy);
}

const STEPS: Readonly<Record<string, readonly [size: number, unit: string][]>> = {
  Bytes: [
    [1024 ** 3, "GiB"],
    [1024 ** 2, "MiB"],
    [1024, "KiB"],
    [1, "bytes"],
  ],
  Ms: [
    [DAY_MS, "days"],
    [HOUR_MS, "h"],
    [60_000, "min"],
    [1_000, "s"],
    [1, "ms"],
  ],
};

/** A size for people: in the largest unit that fits, with at most one decimal, such as `1.5 GiB`. */
export function formatAmount(value: number, unit: "Bytes" | "Ms"): string {
  const [size, word] = STEPS[unit]!.find(([step]) => value >= step) ?? [1, STEPS[unit]!.at(-1)![1]];
  return `${Number((value / size).toFixed(1))} ${word}`;
}

/** A limit in words. The end of its name is its unit. */
export function limitText(name: string, value: number): string {
  if (name.endsWith("Bytes")) return formatAmount(value, "Bytes");
  if (name.endsWith("Ms")) return formatAmount(value, "Ms");
  if (name.endsWith("Seconds")) return formatAmount(value * 1_000, "Ms");
  return value.toLocaleString("en-US");
}

/** Warns when an engine on another machine is to mount folders: it would mount folders of its own machine. */
export function folderFindings({
  dockerHost,
  sandboxWorkspace,
}: Pick<Config, "dockerHost" | "sandboxWorkspace">): Finding[] {
  if (!dockerHost?.startsWith("ssh://") || sandboxWorkspace === "detached") return [];
  return [
    warn(
      "workspaces",
      "the engine is on another machine and is to mount the data folder of this one",
      "set SANDBOX_WORKSPACE=detached: files are carried there and back",
    ),
  ];
}
