/** The files for Grafana and Prometheus in the docs use only metrics that the server provides, with their labels. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { skep } from "../../testing/command.ts";
import { DONE, type MeteredServer, startMeteredServer } from "../../testing/metered-server.ts";
import { reply } from "../../testing/model-server.ts";

const DOCS = join(import.meta.dir, "../../../docs/monitoring");
const ALERTS = readFileSync(join(DOCS, "skep-alerts.yml"), "utf8");
const DASHBOARD = readFileSync(join(DOCS, "skep-dashboard.json"), "utf8");

interface Panel {
  id: number;
  title: string;
  gridPos: { x: number; y: number; w: number; h: number };
  targets: { expr: string }[];
}
interface Rule {
  alert: string;
  expr: string;
  for: string;
  labels: { severity: string };
  annotations: { summary: string; description: string };
}
const { panels } = JSON.parse(DASHBOARD) as { panels: Panel[] };
const rules = (parse(ALERTS) as { groups: { rules: Rule[] }[] }).groups.flatMap((group) => group.rules);

let metered: MeteredServer;
let numbers: string;
beforeAll(async () => {
  metered = await startMeteredServer();
  metered.models.next(reply({ ...DONE, usage: { input: 30, output: 1_000 } }));
  expect((await metered.run(await metered.pipeline())).status).toBe("succeeded");
  numbers = (await metered.server.request<string>("GET", "/metrics", { token: metered.admin.token })).body;
});
afterAll(() => metered.remove());

/** The names and labels that a query uses: `name{label=…}`, and the labels by which it sums. */
function parseQuery(expr: string): { names: string[]; labels: string[] } {
  const names = [...expr.matchAll(/\bskep_[a-z_]+/g)].map(([name]) => name);
  const within = [...expr.matchAll(/\{([^}]*)\}/g)].flatMap(([, inner]) =>
    [...inner!.matchAll(/(\w+)\s*[=!]~?/g)].map(([, label]) => label!),
  );
  const by = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, inner]) => inner!.split(", "));
  // Prometheus itself adds these two labels.
  const labels = [...within, ...by].filter((label) => label !== "instance" && label !== "job");
  return { names, labels };
}
const typeOf = (name: string) => new RegExp(`^# TYPE ${name} (\\w+)$`, "m").exec(numbers)?.[1];
const exprs = [...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)), ...rules.map(({ expr }) => expr)];

test.each(exprs)("%s asks for numbers and labels that are there", (expr) => {
  const { names, labels } = parseQuery(expr);
  if (!expr.startsWith("up{")) expect(names).not.toEqual([]);
  for (const name of names) {
    const type = typeOf(name) ?? (typeOf(name.replace(/_bucket$/, "")) === "histogram" ? "histogram" : undefined);
    expect([name, type]).toEqual([name, expect.any(String)]);
    const rated = new RegExp(`(rate|increase)\\(${name}\\b`).test(expr);
    expect([name, rated]).toEqual([name, type !== "gauge"]);
  }
  const lines = numbers.split("\n").filter((line) => names.some((name) => line.startsWith(`${name}{`)));
  for (const label of labels) expect([label, lines.some((line) => line.includes(`${label}="`))]).toEqual([label, true]);
  for (const [, value] of expr.matchAll(/(?:status|outcome|type)="([^"]+)"/g))
    expect(numbers).toMatch(new RegExp(`="${value}"`));
});

test("a run, its calls and their cost are counted once", () => {
  expect(numbers).toContain('skep_runs_ended_total{status="succeeded"} 1\n');
  expect(numbers).toContain('skep_runs_ended_total{status="failed"} 0\n');
  expect(numbers).toContain('skep_steps_ended_total{status="succeeded"} 1\n');
  expect(numbers).toContain('skep_model_calls_total{provider="custom-lab",outcome="ok"} 1\n');
  expect(numbers).toContain('skep_model_tokens_total{provider="custom-lab",type="output"} 1000\n');
  expect(numbers).toContain('skep_model_cost_usd_total{provider="custom-lab"} 0.1\n');
  expect(numbers).toContain("skep_runs_unfinished 0\n");
});

test("panels do not overlap, and each alert says how bad it is and what to do", () => {
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, at) => `${x + (at % w)} ${y + Math.floor(at / w)}`),
  );
  expect(new Set(cells).size).toBe(cells.length);
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  for (const rule of rules)
    expect(rule).toMatchObject({
      alert: expect.stringMatching(/^Skep[A-Z]\w+$/),
      for: expect.stringMatching(/^\d+m$/),
      labels: { severity: expect.stringMatching(/^(warning|critical)$/) },
      annotations: { summary: expect.stringMatching(/\w/), description: expect.stringMatching(/\.$/) },
    });
});

test("skep metrics prints the numbers, the dashboard and the alert rules", async () => {
  const env = { SKEP_URL: metered.server.url, SKEP_TOKEN: metered.admin.token };
  const print = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await skep(["metrics", ...args], { env });
    expect([code, stderr]).toEqual([0, ""]);
    return stdout;
  };
  expect(JSON.parse(await print("dashboard"))).toEqual(JSON.parse(DASHBOARD));
  expect(await print("alerts")).toBe(ALERTS);
  expect(JSON.parse(await print("--json"))).toMatchObject({ 'skep_runs_ended_total{status="succeeded"}': 1 });
  expect(await print()).toContain("# TYPE skep_runs_ended_total counter");
});
