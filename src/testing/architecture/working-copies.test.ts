/**
 * The server never resolves a path inside a folder that a container may write. An agent or tool server could swap a
 * folder for a link between check and use. Such files are reached only through working-copy/, and git is never run
 * there.
 */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Glob } from "bun";

const SRC = resolve(import.meta.dir, "../..");

/**
 * Other modules that use the file system, and for what. Each path can be changed only by the server's user and is
 * outside of the folders that containers are given (those of projects, runs, chats and tool servers).
 */
const BESIDE: Readonly<Record<string, string>> = {
  "adapter/docker/endpoint.ts": "the engine's socket and its certificates",
  "adapter/docker/ssh.ts":
    "a folder of its own under the system's temporary one, for the socket of an engine elsewhere",
  "adapter/git.ts": "a project's folder before anybody works in it, and the repository's own settings",
  "adapter/git/agent-repository.ts":
    "a folder beside the working copy, before it is moved in, and the repository's folder",
  "adapter/git/attributes.ts": "the repository's own settings",
  "adapter/git/command.ts": "whether the folder to start in is there",
  "adapter/git/commit.ts": "the index, in the repository's folder",
  "adapter/git/history.ts": "the repository's folder",
  "adapter/git/leftovers.ts": "the repository's folder",
  "adapter/git/lfs-client.ts": "contents from Git LFS, in the repository's folder",
  "adapter/git/lfs.ts": "the list of pointers, in the repository's folder",
  "adapter/git/source.ts": "the size of an archive in the data folder's cache",
  "adapter/git/submodules.ts":
    "repositories of submodules, in the repository's folder; the folder of all working copies",
  "adapter/git/worktree.ts": "the folder of all working copies, and the repository's folder",
  "adapter/kubernetes/access.ts": "the operator's kubeconfig and what it names, or the service account's files",
  "adapter/model/record.ts": "the operator's file of recorded model calls",
  "adapter/model/scripted.ts": "the operator's script of model replies",
  "adapter/sandbox/docker/busybox-rootfs.ts": "this machine's busybox",
  "adapter/sandbox/docker/carried-files.ts": "whether the working copy's own folder is there",
  "adapter/sandbox/docker/driver.ts": "whether the working copy's own folder is there",
  "adapter/sandbox/process/driver.ts": "the working copy's own folder",
  "adapter/sandbox/process/marked-processes.ts": "/proc",
  "adapter/sandbox/relay/program.ts": "the relay program in the data folder's cache, which no container can write",
  "adapter/speech/program-speech.ts":
    "speech programs of this machine, and a folder of its own under the system's temporary one",
  "app/check-files.ts": "files that a person names, and the team's",
  "app/offline-checks.ts": "the team's files",
  "cli/admin.ts": "a file that a person names",
  "cli/backup.ts": "whether a database is there",
  "cli/chat/commands.ts": "a file that a person names",
  "cli/chat/line.ts": "the history of lines that a person typed",
  "cli/debian-rootfs.ts": "packages of this machine",
  "cli/demo-repository.ts": "a repository that the demo makes for itself",
  "cli/demo.ts": "the demo's own script and repository",
  "cli/eval/task-folder.ts": "folders that a person names",
  "cli/graph-command.ts": "whether the folder that a person names is there",
  "cli/graph-scip.ts": "the file that a person names",
  "cli/harness-packages.ts": "programs of external agents on their way into an image, in a temporary folder",
  "cli/image.ts": "a file that a person names",
  "cli/init/init.ts": "files that a person is asked for",
  "cli/install-update.ts": "the executable",
  "cli/read-input.ts": "files that a person names",
  "cli/resource/memory.ts": "files that a person names",
  "cli/resource/project-archive.ts": "files that a person names",
  "cli/resource/voice.ts": "files that a person names",
  "cli/server/credentials.ts": "the person's own credentials",
  "cli/server/server-file.ts": "where a server says that it runs",
  "cli/server/trust.ts": "where a server says that it runs, and /proc",
  "cli/service/launchd.ts": "the definition of a service",
  "cli/service/systemd.ts": "the definition of a service",
  "cli/update.ts": "whether a package keeps the executable",
  "cli/trial-start.ts": "a folder of its own under the system's temporary one",
  "process/addons.ts": "native parts of the executable, in the cache's folder",
  "process/worker-process.ts": "/proc",
  "feature/admin/system-watch.ts": "how much room the disk has",
  "feature/attachments/routes.ts": "stored uploads",
  "feature/attachments/service.ts": "stored uploads",
  "feature/auth/lost-access.ts": "whether a database is there",
  "feature/auth/setup.ts": "the setup token",
  "feature/backups/routes.ts": "finished backups",
  "feature/backups/service.ts": "the folder of backups",
  "feature/codehost/connection.ts": "the operator's key file",
  "feature/dashboard/files.ts": "the dashboard's files beside the sources",
  "feature/doctor/machine.ts": "/proc and /sys",
  "feature/doctor/secrets.ts": "keys",
  "feature/doctor/service.ts": "the cache's folder",
  "feature/doctor/storage.ts": "the data folder itself, keys, the database",
  "feature/engine/feature.ts": "makes a working copy's own folder",
  "feature/engine/models.ts": "the folder of recorded model calls",
  "feature/history/feature.ts": "the folder of backups",
  "feature/knowledge-graph/feature.ts": "whether a working copy's own folder is there, and the graph's",
  "feature/mcp/feature.ts": "makes a tool server's own folder",
  "feature/memory/feature.ts": "the folder of all vaults",
  "feature/memory/vault-watch.ts": "the folder of all vaults",
  "feature/project-archive/archive.ts": "an upload, which is read and never unpacked",
  "feature/projects/lfs.ts": "contents from Git LFS, in the repository's folder",
  "feature/projects/workspaces.ts": "the folder of all working copies",
  "feature/projects/service.ts": "the folder of all projects",
  "feature/projects/submodules.ts": "repositories of submodules, in the repository's folder",
  "feature/sessions/files.ts": "the folder of all working copies",
  "feature/setups/build.ts": "an archive of a commit, for the engine",
  "feature/setups/set-up.ts":
    "an archive of a project's commit in the data folder's cache, which no container is given",
  "feature/status/service.ts": "how much room the disk has",
  "feature/telemetry/gauges.ts": "how much room the disk has, and the size of the database",
  "feature/voice/speech-cache.ts": "stored speech",
  "graph/index/git.ts": "whether the working copy's own folder is there",
  "graph/index/generation.ts": "the graph's folder",
  "graph/index/known-index.ts": "git's folder and the graph's",
  "graph/index/quick-look.ts": "git's folder",
  "graph/index/walk.ts": "git's folder",
  "graph/query/changed-files.ts": "the graph's folder",
  "graph/scip/exact-references.ts": "the graph's folder, and an upload that is copied there",
  "graph/scip/set-up.ts": "the graph's folder",
  "graph/scip/take-in.ts": "the graph's folder",
  "graph/serve/session.ts": "the graph's folder",
  "graph/store/fact-cache.ts": "the graph's folder",
  "graph/store/fact-segment.ts": "the graph's folder",
  "graph/store/graph-store.ts": "the graph's folder",
  "graph/store/key-index.ts": "the graph's folder",
  "graph/store/kuzu.ts": "the graph's folder",
  "http/form.ts": "uploads that are being received",
  "http/perform.ts": "an upload that is being received",
  "store/backup-folder.ts": "whether the folder of scheduled backups is there, outside the data folder",
  "store/backup.ts": "the archive, the database, and a new data folder that nothing works on yet",
  "store/content-store.ts": "stored uploads",
  "store/data-folder.ts": "the data folder's parts and its keys",
  "store/database-file.ts": "the database",
  "store/disk-worker.ts": "names in the data folder's parts, and the database",
  "store/identity.ts": "the data folder itself and the database",
  "store/lock.ts": "the data folder's lock",
  "store/migrate.ts": "copies of the database",
  "store/pack-tree.ts": "reads what was opened by a descriptor",
  "store/scrub.ts": "the database's file, whose gaps between rows it overwrites",
  "store/shrink.ts": "the size of the database, and how much room the disk has",
  "store/text-folder.ts": "files of people, in folders that no container is given",
  "store/verify-backup.ts": "the archive, before it has its name",
  "text/extract/run.ts": "a stored upload",
  "text/extractor.ts": "/bin/sh and /proc",
  "working-copy/folder.ts": "the one opener: descriptors",
  "working-copy/index-writer.ts": "git's index, in the repository's folder",
  "working-copy/libc.ts": "constants of the system",
};

/** The sources of the product, without the dashboard, which runs in browsers. */
const sources = [...new Glob("**/*.{ts,tsx}").scanSync(SRC)]
  .filter((file) => !/^(testing|web)\/|\.test\.ts$|\.d\.ts$|(^|\/)fixtures\//.test(file))
  .sort();
const text = (file: string) => readFileSync(join(SRC, file), "utf8");
/** The file without comments. */
const code = (file: string) => text(file).replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");

test("only the files listed here, with what they touch, use the file system by paths", () => {
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
  // The command line's demo creates its own repository before any agent has access to it.
  const asking = sources.filter((file) => !file.startsWith("cli/") && /\bgit\(/.test(code(file)));
  expect(asking.length).toBeGreaterThan(3);
  // `git reset --hard` fills a folder that did not exist before.
  const strays = asking.flatMap((file) =>
    code(file)
      .split("\n")
      .filter((line) => walking.test(line))
      .map((line) => `${file}: ${line.trim()}`),
  );
  expect(strays).toEqual([]);
});
