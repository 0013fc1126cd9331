/** What is proposed for a repository, whatever its files contain. */
import { describe, expect, test } from "bun:test";
import { whyNoSetUps } from "../setups/model.ts";
import { readOwn } from "./feature.ts";
import { readJsonWithComments } from "./json-comments.ts";
import { hashOf, proposeEnvironment } from "./propose.ts";

const propose = (files: Record<string, string>) => proposeEnvironment((path) => files[path], readOwn);

const NPM = { allow: ["npm"] };
const CRATES = { CARGO_HOME: "/usr/local/cargo" };

describe("what a repository proposes", () => {
  test("nothing where no file says how its code is run", () => {
    expect(propose({ "README.md": "node:22" })).toBeUndefined();
  });

  test.each<[string, Record<string, string>, object]>([
    [
      "npm",
      { "package.json": '{"scripts":{"test":"vitest"},"engines":{"node":">=20"}}' },
      { image: "node:22", check: "npm test" },
    ],
    [
      "npm without tests",
      { "package.json": '{"scripts":{"test":"echo \\"Error: no test specified\\""}}' },
      { image: "node:22" },
    ],
    [
      "npm with a lock file",
      { "package.json": '{"scripts":{"test":"vitest"}}', "package-lock.json": "{}", ".nvmrc": "v20.11.0\n" },
      { image: "node:20", setup: "npm ci", check: "npm test", network: NPM },
    ],
    [
      "npm without a lock file, with hooks of git",
      {
        "package.json":
          '{"scripts":{"test":"a","prepare":"husky"},"devDependencies":{"a":"1"},"engines":{"node":"^18.0.0 || >=24.1"}}',
      },
      { image: "node:24", setup: "HUSKY=0 npm install", check: "npm test", network: NPM },
    ],
    [
      "npm with workspaces that have tests",
      { "package.json": '{"workspaces":["packages/*"],"engines":{"node":">=18 <21"}}', ".node-version": "lts/jod" },
      { image: "node:22", setup: "npm install", check: "npm test --workspaces --if-present", network: NPM },
    ],
    [
      "pnpm of the version that is named",
      { "package.json": '{"packageManager":"pnpm@9.15.0+sha512.ab","scripts":{"test":"a"}}', "pnpm-lock.yaml": "" },
      {
        image: "node:22",
        setup: "npm install --global --force pnpm@9.15.0 && pnpm install --frozen-lockfile",
        check: "pnpm test",
        network: NPM,
      },
    ],
    [
      "pnpm of the time of its lock file, with workspaces",
      { "package.json": "{}", "pnpm-lock.yaml": "lockfileVersion: '6.0'\n", "pnpm-workspace.yaml": "packages: []" },
      {
        image: "node:22",
        setup: "npm install --global --force pnpm@8 && pnpm install --frozen-lockfile",
        check: "pnpm --recursive --if-present run test",
        network: NPM,
      },
    ],
    [
      "Yarn, classic",
      { "package.json": '{"scripts":{"test":"a"}}', "yarn.lock": "# yarn lockfile v1\n" },
      {
        image: "node:22",
        setup: "npm install --global --force yarn@1 && yarn install --frozen-lockfile",
        check: "yarn test",
        network: { allow: ["npm", "registry.yarnpkg.com"] },
      },
    ],
    [
      "Yarn since version 2",
      { "package.json": '{"scripts":{"test":"a"}}', "yarn.lock": "__metadata:\n  version: 8\n" },
      {
        image: "node:22",
        env: { YARN_ENABLE_GLOBAL_CACHE: "false" },
        setup: expect.stringMatching(
          /^npm install --global --force @yarnpkg\/cli-dist@4 && YARN_HTTP_PROXY=.* yarn install --immutable$/,
        ),
        check: "yarn test",
        network: NPM,
      },
    ],
    [
      "Bun",
      { "package.json": '{"scripts":{"test":"a"}}', "bun.lock": "{}" },
      {
        image: "node:22",
        setup: "npm install --global --force bun@1 && bun install --frozen-lockfile",
        check: "bun run test",
        network: NPM,
      },
    ],
    [
      "Python with requirements",
      { "setup.py": "", "requirements.txt": "six", "requirements-dev.txt": "pytest" },
      {
        image: "python:3",
        setup: "pip install --root-user-action=ignore --editable . -r requirements.txt -r requirements-dev.txt pytest",
        check: "python3 -m pytest",
        network: { allow: ["pypi"] },
      },
    ],
    [
      "Python with dependency groups, whose version is git's",
      {
        "pyproject.toml":
          '[build-system]\nrequires = ["hatch-vcs"]\n[project]\nname = "a"\nrequires-python = ">=3.9,<3.13"\n[dependency-groups]\ndocs = []\ntests = [\n  "pytest",\n]\n',
      },
      {
        image: "python:3.12",
        env: { SETUPTOOLS_SCM_PRETEND_VERSION: "0.0.0" },
        setup: "pip install --root-user-action=ignore --editable . --group tests pytest",
        check: "python3 -m pytest",
        network: { allow: ["pypi"] },
      },
    ],
    [
      "Python with an extra and tests of the standard library",
      {
        "pyproject.toml": '[project]\nname = "a"\n[project.optional-dependencies]\ntest = ["b"]\n',
        "tox.ini": "[testenv]\ncommands = python -m unittest\n",
        ".python-version": "3.12.4\n",
      },
      {
        image: "python:3.12",
        setup: "pip install --root-user-action=ignore --editable '.[test]'",
        check: "python3 -m unittest",
        network: { allow: ["pypi"] },
      },
    ],
    [
      "Poetry",
      { "pyproject.toml": '[tool.poetry]\nname = "a"\n', "poetry.lock": "" },
      {
        image: "python:3",
        env: { POETRY_VIRTUALENVS_CREATE: "false" },
        setup: "pip install --root-user-action=ignore poetry && poetry install --no-interaction",
        check: "python3 -m pytest",
        network: { allow: ["pypi"] },
      },
    ],
    ["Go", { "go.mod": "module x\n\ngo 1.22.3\n" }, { image: "golang:1.22", check: "go test ./..." }],
    [
      "Go with modules of others",
      { "go.mod": "module x\n\ngo 1.22\ntoolchain go1.24.1\nrequire (\n  a v1\n)\n", "go.sum": "" },
      { image: "golang:1.24", setup: "go mod download", check: "go test ./...", network: { allow: ["go"] } },
    ],
    [
      "Go with modules that it brings along",
      { "go.mod": "module x\nrequire a v1\n", "vendor/modules.txt": "" },
      { image: "golang:1", check: "go test ./..." },
    ],
    [
      "Cargo",
      { "Cargo.toml": "[package]\n[features]\ndependencies = []\n" },
      { image: "rust:1", env: CRATES, check: "cargo test --offline" },
    ],
    [
      "Cargo with crates of others",
      { "Cargo.toml": "[workspace]\n[target.'cfg(unix)'.dev-dependencies]\na = '1'\n", "Cargo.lock": "" },
      {
        image: "rust:1",
        env: CRATES,
        setup: "cargo fetch --locked",
        check: "cargo test --workspace --offline",
        network: { allow: ["crates"] },
      },
    ],
    ["Maven", { "pom.xml": "<project/>" }, { image: "maven:3", check: "mvn -o -q -B test" }],
  ])("the image and the tests of %s", (_, files, definition) => {
    expect(propose(files)?.definition).toEqual(definition);
  });

  test("of several languages the one whose tests can be run, and the others are named", () => {
    const found = propose({ "package.json": '{"devDependencies":{"a":"1"}}', "go.mod": "module x\ngo 1.22\n" });
    expect(found?.definition).toEqual({ image: "golang:1.22", check: "go test ./..." });
    expect(found?.notes).toEqual([expect.stringContaining("Not for package.json (JavaScript)")]);
  });

  test.each<[string, Record<string, string>, object]>([
    [
      "devcontainer.json, seen from its folder",
      {
        ".devcontainer/devcontainer.json": '{"build":{"dockerfile":"../docker/Dev","context":"..","args":{"A":"1"}}}',
        "package.json": '{"scripts":{"test":"vitest"}}',
      },
      { build: { dockerfile: "docker/Dev", context: ".", args: { A: "1" } }, check: "npm test" },
    ],
    [
      "devcontainer.json in its old form",
      { ".devcontainer.json": '{"dockerFile":"Dockerfile"}' },
      { build: { dockerfile: "Dockerfile", context: "." } },
    ],
    [
      "a folder without devcontainer.json",
      { ".devcontainer/Dockerfile": "FROM a" },
      { build: { dockerfile: ".devcontainer/Dockerfile", context: ".devcontainer" } },
    ],
    [
      "its own file",
      { ".skep/environment.yml": "build: { dockerfile: Dockerfile }\n" },
      { build: { dockerfile: "Dockerfile" } },
    ],
  ])("a Dockerfile of %s takes the place of the language's image", (_, files, definition) => {
    expect(propose(files)).toMatchObject({ definition, notes: [] });
  });

  test("where a Dockerfile cannot be built, the language's image is proposed; both of one's own are a mistake", () => {
    const files = { ".devcontainer/Dockerfile": "FROM a", "package.json": "{}" };
    expect(propose(files)?.otherwise).toEqual({ image: "node:22" });
    expect(propose(files)?.definition.image).toBeUndefined();
    const both = propose({ ".skep/environment.yml": "image: a\nbuild: { dockerfile: b }\n" });
    expect(both).toMatchObject({ definition: {}, notes: [expect.stringContaining("and not both")] });
    const target = propose({ ".devcontainer.json": '{"build":{"dockerfile":"D","target":"dev"}}' });
    expect(target).toMatchObject({ definition: {}, notes: [expect.stringContaining("build has a value")] });
  });

  test("where nothing is built, the reason says what to do instead", () => {
    for (const [sandbox, dockerHosts, hasEngine] of [
      ["kubernetes", "", true],
      ["docker", "a=ssh://a", true],
      ["process", "", false],
    ] as const)
      expect(whyNoSetUps({ sandbox, dockerHosts }, hasEngine)).toEqual(expect.any(String));
    expect(whyNoSetUps({ sandbox: "docker", dockerHosts: "" }, true)).toBeUndefined();
  });

  test("services of a Compose file that are images, and why the others are left out", () => {
    const text = `services:
  web: { build: . }
  db:
    image: postgres:17
    environment: { POSTGRES_PASSWORD: x, POSTGRES_PORT: 5432 }
    command: postgres -c fsync=off
    volumes: ["data:/var/lib/postgresql/data"]
    ports: ["5432:5432"]
    healthcheck: { test: ["CMD-SHELL", "pg_isready -U $$POSTGRES_USER"], interval: 1s }
  cache: { image: "redis:8", environment: ["A=b=c"], healthcheck: { test: ["CMD", "redis-cli", "ping"] } }
  secret: { image: "x:1", environment: { TOKEN: "\${TOKEN}" } }
  Bad_Name: { image: "x:1" }
`;
    const found = propose({ "docker-compose.yml": text, "go.mod": "module x\n" });
    expect(found?.files).toEqual(["docker-compose.yml", "go.mod"]);
    expect(found?.definition.services).toEqual({
      db: {
        image: "postgres:17",
        env: { POSTGRES_PASSWORD: "x", POSTGRES_PORT: "5432" },
        command: ["postgres", "-c", "fsync=off"],
        health: "pg_isready -U $POSTGRES_USER",
      },
      cache: { image: "redis:8", env: { A: "b=c" }, health: "redis-cli ping" },
    });
    expect(found?.notes.map((note) => note.slice("docker-compose.yml: ".length, 70))).toEqual([
      expect.stringContaining("the service web is left out: it is built"),
      expect.stringContaining("of the service db is left out: volumes"),
      expect.stringContaining("the service secret is left out: it has variables"),
      expect.stringContaining("the service Bad_Name is left out: its name"),
    ]);
    for (const broken of ["services: [1]", "a: &b 1\nc: *b\n", "- 1", ""])
      expect(propose({ "compose.yaml": broken })).toMatchObject({ definition: {}, notes: [expect.any(String)] });
  });

  test("its own file is the whole; with a mistake in it nothing of it counts, and the place is named", () => {
    const own = { "package.json": "{}", ".skep/environment.yml": "image: team/web:1\ncheck: make test\n" };
    expect(propose(own)).toMatchObject({ definition: { image: "team/web:1", check: "make test" }, notes: [] });
    for (const [text, note] of [
      ["image: [1]\n", ".skep/environment.yml, line 1"],
      ["check: a\ncheck: b\n", ".skep/environment.yml, line 2"],
      ["privileged: true\n", ".skep/environment.yml, line 1"],
      ["env: { LD_PRELOAD: /x.so }\n", "LD_PRELOAD is the sandbox's own"],
      ['check: "a\\nb"\n', ".skep/environment.yml, line 1"],
      ["a: &x [1]\nb: *x\n", "Anchors"],
    ] as const) {
      const found = propose({ ".skep/environment.yml": text });
      expect([text, found?.definition, found?.notes.join()]).toEqual([text, {}, expect.stringContaining(note)]);
    }
  });

  test("of devcontainer.json the image and variables; what it would do besides is left out with the reason", () => {
    const text = `{
      // the image
      "image": "mcr.example/devcontainers/go:1", /* more */ "containerEnv": { "CI": "1", },
      "features": { "ghcr.io/x/y:1": {} }, "runArgs": ["--privileged"], "postCreateCommand": "make deps", "initializeCommand": "rm -rf ~",
    }`;
    const found = propose({ ".devcontainer/devcontainer.json": text, "go.mod": "go 1.22\n" });
    expect(found?.definition).toEqual({
      image: "mcr.example/devcontainers/go:1",
      env: { CI: "1" },
      setup: "make deps",
      check: "go test ./...",
    });
    expect(found?.files).toEqual([".devcontainer/devcontainer.json", "go.mod"]);
    expect(found?.notes.map((note) => note.split(" ")[1])).toEqual(["features", "runArgs", "initializeCommand"]);
  });

  test("hostile files cost little and put nothing into the proposal", () => {
    const deep = "[".repeat(60_000);
    for (const text of [
      deep,
      `{"a":${deep}`,
      '{"image":"--privileged"}',
      '{"image":"a b"}',
      "\0",
      '"',
      "{/*",
      '{"image":"x\\u202ey"}',
    ])
      expect(propose({ ".devcontainer.json": text })?.definition).toEqual({});
    const notes = propose({
      ".devcontainer.json": `{${Array.from({ length: 500 }, (_, i) => `"k${i}":1`).join()}}`,
    })?.notes;
    expect(notes?.length).toBe(20);
    expect(propose({ "package.json": deep })?.definition).toEqual({ image: "node:22" });
  });

  test("the hash is of what is proposed, whatever the order of its members", () => {
    expect(hashOf({ image: "a", check: "b" })).toBe(hashOf({ check: "b", image: "a" }));
    expect(hashOf({ image: "a", check: "b" })).not.toBe(hashOf({ image: "a", check: "c" }));
  });
});

test("comments and late commas are left out of JSON, and nothing of what is in quotes", () => {
  expect(readJsonWithComments('{"a": "// no, /* neither */ ,}", "b": [1, 2, ], // c\n "d": "\\"//" , }')).toEqual({
    a: "// no, /* neither */ ,}",
    b: [1, 2],
    d: '"//',
  });
  expect(() => readJsonWithComments('{"a" 1}')).toThrow(SyntaxError);
});
