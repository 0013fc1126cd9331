/**
 * The server never resolves a path inside an agent's working copy: the agent there could swap a folder for a link
 * between the look and the use. Files there are reached through working-copy/ alone, and git is never let in.
 */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Glob } from "bun";

const SRC = resolve(import.meta.dir, "../..");

/** Rooms that know where working copies are. */
const KNOWING = /^(adapter\/(git|sandbox)|engine|graph|feature\/(engine|knowledge-graph|projects))(\/|\.ts$)/;

/** What they do with the file system beside: each path is one that only the server can change. */
const BESIDE: Readonly<Record<string, string>> = {
  "adapter/git.ts": "a project's folder before anybody works in it, and the repository's own settings",
  "adapter/git/agent-repository.ts":
    "a folder beside the working copy, before it is moved in, and the repository's folder",
  "adapter/git/command.ts": "whether the folder to start in is there",
  "adapter/git/commit.ts": "the index, in the repository's folder",
  "adapter/git/leftovers.ts": "the repository's folder",
  "adapter/git/worktree.ts": "the folder of all working copies, and the repository's folder",
  "adapter/sandbox/docker/busybox-rootfs.ts": "this machine's busybox",
  "adapter/sandbox/docker/driver.ts": "whether the working copy's own folder is there",
  "adapter/sandbox/process/driver.ts": "the working copy's own folder",
  "adapter/sandbox/process/marked-processes.ts": "/proc",
  "feature/engine/feature.ts": "makes a working copy's own folder",
  "feature/engine/models.ts": "the folder of recorded model calls",
  "feature/knowledge-graph/feature.ts": "whether a working copy's own folder is there, and the graph's",
  "feature/projects/clones.ts": "a project's folder as a whole",
  "feature/projects/run-workspaces.ts": "the folder of all working copies",
  "feature/projects/service.ts": "the folder of all projects",
  "graph/index/git.ts": "whether the working copy's own folder is there",
  "graph/serve/graph-reader.ts": "the graph's folder",
  "graph/index/indexer.ts": "the graph's folder",
  "graph/index/known-index.ts": "git's folder and the graph's",
  "graph/query/changed-files.ts": "the graph's folder",
  "graph/serve/session.ts": "the graph's folder",
  "graph/store/fact-cache.ts": "the graph's folder",
  "graph/store/graph-store.ts": "the graph's folder",
  "graph/store/kuzu.ts": "the graph's folder",
  "graph/index/walk.ts": "git's folder",
};

const sources = [...new Glob("**/*.ts").scanSync(SRC)]
  .filter((file) => KNOWING.test(file) && !file.endsWith(".test.ts") && !file.endsWith(".d.ts"))
  .sort();
const text = (file: string) => readFileSync(join(SRC, file), "utf8");
/** Without comments. */
const code = (file: string) => text(file).replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");

test("only the files listed here, with what they touch, use the file system where working copies are known", () => {
  const using = sources.filter((file) =>
    /from "(node:)?fs(\/promises)?"|import\("(node:)?fs|require\("(node:)?fs|\bBun\.(file|write)\(|\.scan(Sync)?\(/.test(
      code(file),
    ),
  );
  expect(using).toEqual(Object.keys(BESIDE).sort());
});

test("git is never asked what walks a working copy, but to fill a new one", () => {
  const walking =
    /"(add|am|apply|checkout|checkout-index|check-attr|check-ignore|clean|commit|diff|diff-files|merge|rebase|restore|rm|stash|status|switch|update-index|--others|--modified|--deleted|--exclude-standard)"/;
  const asking = sources.filter((file) => /\bgit\(/.test(code(file)));
  expect(asking.length).toBeGreaterThan(3);
  // `git reset --hard` fills a folder that did not exist a moment ago.
  const strays = asking.flatMap((file) =>
    code(file)
      .split("\n")
      .filter((line) => walking.test(line))
      .map((line) => `${file}: ${line.trim()}`),
  );
  expect(strays).toEqual([]);
});
