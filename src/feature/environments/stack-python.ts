/** Python: finds what the tests need besides the code itself, and the command that runs them. */
import type { Environment } from "./model.ts";
import { present, type Stack, type TextOf, tablesOf } from "./stack.ts";

const MANIFESTS = ["pyproject.toml", "setup.py", "requirements.txt"] as const;
const REQUIREMENTS = [
  "requirements.txt",
  "requirements-dev.txt",
  "requirements-test.txt",
  "requirements_dev.txt",
  "requirements_test.txt",
  "dev-requirements.txt",
  "test-requirements.txt",
  "requirements/dev.txt",
  "requirements/test.txt",
  "requirements/tests.txt",
  "requirements/testing.txt",
] as const;
const TEST_FILES = ["tox.ini", "pytest.ini", "conftest.py", "setup.cfg", "noxfile.py"] as const;
export const PYTHON_FILES = [
  ...MANIFESTS,
  ...REQUIREMENTS.slice(1),
  ...TEST_FILES,
  "poetry.lock",
  "manage.py",
  ".python-version",
] as const;

/** Groups in which projects list what their tests need. The first that exists is used. */
const TEST_GROUPS = ["tests", "test", "testing", "dev"];
/** Build tools that read the code's version from git's history, which does not exist while the code is set up. */
const VERSION_FROM_GIT = /setuptools[-_]scm|hatch-vcs/;

export function detectPython(textOf: TextOf): Stack | undefined {
  const manifests = present(textOf, MANIFESTS);
  if (manifests.length === 0) return undefined;
  const tables = tablesOf(textOf("pyproject.toml") ?? "");
  const keysOf = (name: string) => tables.find((table) => table.name === name)?.keys ?? [];
  const lists = present(textOf, REQUIREMENTS);
  const files = [...new Set([...manifests, ...lists])];
  const definition: Environment = { image: `python:${versionOf(textOf, tables)}` };
  const isPoetry = keysOf("tool.poetry").length > 0 && textOf("poetry.lock") !== undefined;
  const test = testOf(textOf);
  if (isPoetry) files.push("poetry.lock");
  const build = tables.find(({ name }) => name === "build-system");
  const isPackage = textOf("setup.py") !== undefined || build !== undefined || keysOf("project").includes("name");
  const group = TEST_GROUPS.find((name) => keysOf("dependency-groups").includes(name));
  const extra = TEST_GROUPS.find((name) => keysOf("project.optional-dependencies").includes(name));
  if (isPoetry) {
    definition.setup = "pip install --root-user-action=ignore poetry && poetry install --no-interaction";
    definition.env = { POETRY_VIRTUALENVS_CREATE: "false" };
  } else {
    const wanted = [
      ...(isPackage ? [extra === undefined ? "--editable ." : `--editable '.[${extra}]'`] : []),
      ...lists.map((path) => `-r ${path}`),
      ...(group === undefined ? [] : [`--group ${group}`]),
      ...(test.needs !== undefined ? [test.needs] : []),
    ];
    if (wanted.length > 0) definition.setup = `pip install --root-user-action=ignore ${wanted.join(" ")}`;
    if (VERSION_FROM_GIT.test(build?.text ?? "")) definition.env = { SETUPTOOLS_SCM_PRETEND_VERSION: "0.0.0" };
  }
  if (definition.setup !== undefined) definition.network = { allow: ["pypi"] };
  definition.check = test.command;
  return { files, definition };
}

/** The command that runs the tests, and the package that it needs. */
function testOf(textOf: TextOf): { command: string; needs?: string } {
  const pytest = { command: "python3 -m pytest", needs: "pytest" };
  const said = [...MANIFESTS, ...REQUIREMENTS, ...TEST_FILES].map((path) => textOf(path) ?? "").join("\n");
  if (/\bpy\.?test\b/.test(said) || textOf("conftest.py") !== undefined) return pytest;
  if (textOf("manage.py") !== undefined) return { command: "python3 manage.py test" };
  return /-m unittest\b/.test(said) ? { command: "python3 -m unittest" } : pytest;
}

function versionOf(textOf: TextOf, tables: ReturnType<typeof tablesOf>): string {
  const exact = /^3\.\d{1,2}/.exec(textOf(".python-version") ?? "")?.[0];
  if (exact !== undefined) return exact;
  const wanted = tables.map(({ text }) => /^(?:requires-python|python) {0,10}= {0,10}"([^"]{1,100})"/m.exec(text)?.[1]);
  const below = /<\s{0,4}3\.(\d{1,2})/.exec(wanted.find((range) => range !== undefined) ?? "")?.[1];
  return below === undefined || below === "0" ? "3" : `3.${Number(below) - 1}`;
}
