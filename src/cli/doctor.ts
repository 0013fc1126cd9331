/**
 * `skep doctor`: what prevents work and what to do about it. It checks this machine and its data folder, the running
 * server, or a server elsewhere. The exit code is 1 if a check fails.
 */
import type { Command } from "commander";
import type { Config } from "../core/config.ts";
import { isProblem, messageOf } from "../core/errors.ts";
import { addConfigFlags, configFrom } from "./config-flags.ts";
import { loadApp } from "./load-app.ts";
import { createClient } from "./server/client.ts";
import { tokenFor } from "./server/credentials.ts";
import { locate, type Place } from "./server/locate.ts";
import { paint, type Style, stripControls } from "./terminal/style.ts";

interface Finding {
  check: string;
  verdict: "ok" | "warn" | "fail";
  detail: string;
  remedy?: string;
}
interface Limit {
  name: string;
  value: number;
  text: string;
}
interface DoctorFlags {
  url?: string;
  json?: boolean;
  limits?: boolean;
}

const MARKS = { ok: "ok   ", warn: "warn ", fail: "FAIL " } as const;
const STYLES: Readonly<Record<Finding["verdict"], Style>> = { ok: "green", warn: "yellow", fail: "red" };

export function doctorCommand(program: Command, exit: (code: number) => void): void {
  addConfigFlags(
    program.command("doctor").description("check everything that the server and its agents need, and say what to do"),
  )
    .option("--url <url>", "address of the server to check (env: SKEP_URL)")
    .option("--limits", "also show the limits of this build")
    .option("--json", "print JSON instead of text")
    .action(async (flags: DoctorFlags) => {
      const { findings, limits } = await examine(flags);
      const verdict = findWorst(findings);
      exit(verdict === "fail" ? 1 : 0);
      if (flags.json) return console.log(JSON.stringify({ verdict, findings, limits }));
      for (const finding of findings) console.log(linesOf(finding).join("\n"));
      if (!flags.limits) return;
      console.log("\nLimits");
      for (const { name, text } of limits) console.log(`      ${name.padEnd(28)} ${text}`);
    });
}

const findWorst = (findings: readonly Finding[]): Finding["verdict"] =>
  (["fail", "warn"] as const).find((verdict) => findings.some((one) => one.verdict === verdict)) ?? "ok";

function linesOf({ check, verdict, detail, remedy }: Finding): string[] {
  const head = `${paint(STYLES[verdict], MARKS[verdict])} ${check.padEnd(16)} ${stripControls(detail)}`;
  return remedy ? [head, `${" ".repeat(23)}→ ${stripControls(remedy)}`] : [head];
}

async function examine(flags: DoctorFlags): Promise<{ findings: Finding[]; limits: Limit[] }> {
  const config = configFrom({ ...flags });
  const place = await placeOf(flags, config);
  // A server elsewhere reports its own findings; this machine does not matter to it.
  if (place && place.data === undefined) return { findings: await ofServer(place), limits: [] };
  const own = place?.data === undefined ? config : { ...config, data: place.data };
  const { openDoctor, offlineChecks } = await loadApp();
  const running = place?.pid === undefined ? undefined : { url: place.url, pid: place.pid };
  const { findings, limits } = await openDoctor(own, async () => running).examine();
  const work = place ? await ofServer(place) : offlineChecks(own);
  // The server's own findings replace what this command sees from outside.
  const said = new Set(work.map(({ check }) => check));
  return { findings: [...findings.filter(({ check }) => !said.has(check)), ...work], limits };
}

/** The server to ask: the one that is named, the one on this data folder, or the running server of this user. */
async function placeOf({ url }: DoctorFlags, { data, sources }: Config): Promise<Place | undefined> {
  try {
    return await locate({ url, ...(sources.data === "flag" ? { data } : {}) });
  } catch (error) {
    if (isProblem(error) && error.code === "no_server") return undefined;
    throw error;
  }
}

async function ofServer({ url }: Place): Promise<Finding[]> {
  try {
    const { findings } = await createClient(url, tokenFor(url)).call("GET", "/v1/doctor");
    return findings;
  } catch (error) {
    const isLocked = isProblem(error) && (error.status === 401 || error.status === 403);
    const detail = `${url} could not be asked: ${messageOf(error)}`;
    return [
      isLocked
        ? { check: "server's view", verdict: "warn", detail, remedy: "skep login as an administrator" }
        : { check: "server's view", verdict: "fail", detail, remedy: "see its log" },
    ];
  }
}
