/** All users of the API share one description of it, so code that uses a removed field does not compile. */
import { afterAll, expect, test } from "bun:test";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const ROOT = resolve(import.meta.dir, "../..");
const copy = mkdtempSync(join(tmpdir(), "skep-types-"));
afterAll(() => rmSync(copy, { recursive: true, force: true }));

/** Who reads the field of a run, and in which file. */
const SIDES = {
  "the command line": "src/cli/resource/runs.ts",
  "the dashboard": "src/web/page/home/renamed-field.ts",
  "the tests": "src/testing/renamed-field.ts",
};
const DASHBOARD = `import { client, must } from "../../api/client.ts";
export const pipelineOf = async (id: string): Promise<string> =>
  (await must(client.GET("/v1/runs/{id}", { params: { path: { id } } }))).pipeline_id;
`;
const TESTS = `import type { TestServer } from "./server.ts";
export const pipelineOf = async (server: TestServer, id: string): Promise<string> =>
  (await server.client().call("GET", \`/v1/runs/\${id}\`)).pipeline_id;
`;

/** Type-checks these files of the copy. @returns the compiler's output. */
function compile(name: string, extended: string, files: readonly string[]): string {
  const config = join(copy, `${name}.json`);
  writeFileSync(config, JSON.stringify({ extends: `./${extended}`, include: [], files }));
  const { stdout } = Bun.spawnSync([join(ROOT, "node_modules/.bin/tsc"), "--checkers", "1", "-p", config], {
    cwd: copy,
  });
  return stdout.toString();
}

test("a field of the API with another name compiles in none of the command line, the dashboard and the tests", () => {
  const types = join(ROOT, "src/api/schema.gen.ts");
  if (!existsSync(types)) Bun.spawnSync([process.execPath, "scripts/dashboard/build.ts", "--types"], { cwd: ROOT });
  for (const file of ["tsconfig.json", "src/embedded.d.ts", "src/web/tsconfig.json"])
    cpSync(join(ROOT, file), join(copy, file));
  for (const folder of ["api", "cli", "core", "engine", "testing", "web"])
    cpSync(join(ROOT, "src", folder), join(copy, "src", folder), {
      recursive: true,
      filter: (path) => !/\.test\.tsx?$|fixtures/.test(path),
    });
  symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"));
  mkdirSync(join(copy, "src/web/page/home"), { recursive: true });
  writeFileSync(join(copy, SIDES["the dashboard"]), DASHBOARD);
  writeFileSync(join(copy, SIDES["the tests"]), TESTS);
  const renamed = readFileSync(types, "utf8").replaceAll('"pipeline_id"', '"pipeline_name"');
  const sides = Object.values(SIDES);
  const compileAll = () =>
    compile("programs", "tsconfig.json", [sides[0]!, sides[2]!, "src/embedded.d.ts"]) +
    compile("pages", "src/web/tsconfig.json", [sides[1]!]);
  const wrongIn = (said: string) => sides.filter((file) => said.includes(`${file}(`));
  expect(wrongIn(compileAll())).toEqual([]);
  writeFileSync(join(copy, "src/api/schema.gen.ts"), renamed);
  const said = compileAll();
  expect([wrongIn(said), said]).toEqual([sides, expect.stringContaining("pipeline_id")]);
}, 600_000);
