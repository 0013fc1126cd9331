/**
 * A release from its users' side: built twice with the same bytes, verified, installed, upgraded, removed and purged.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { appendFileSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import manifest from "../../../package.json" with { type: "json" };
import { makeDebianPackage } from "../../../scripts/packaging/debian.ts";
import { makeImage } from "../../../scripts/packaging/image.ts";
import { temporaryFolder } from "../command.ts";
import { dockerForTests } from "../docker-image.ts";
import { isRoot, lacks } from "../parts.ts";

// Two builds, and packages from a mirror: on a busy machine either takes minutes.
setDefaultTimeout(1_800_000);
const binary = process.env["SKEP_BINARY"];
const docker = binary && isRoot ? await dockerForTests(process.env) : undefined;
const missing = ["mmdebstrap", "dpkg-deb", "openssl", "docker", "systemd-analyze"].filter((name) => !Bun.which(name));
const ROOT = resolve(import.meta.dir, "../../..");
const { version } = manifest;
const URL = "https://downloads.example.org/skep";

async function run(command: string[], options: { cwd?: string; env?: Record<string, string> } = {}) {
  const { cwd, env = {} } = options;
  const child = Bun.spawn(command, {
    ...(cwd ? { cwd } : {}),
    env: { PATH: process.env["PATH"]!, HOME: process.env["HOME"]!, ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { code: await child.exited, stdout, stderr };
}

async function must(command: string[], options: Parameters<typeof run>[1] = {}): Promise<string> {
  const { code, stdout, stderr } = await run(command, options);
  if (code !== 0) throw new Error(`${command.join(" ")} ended with ${code}: ${stderr || stdout}`);
  return stdout.trim();
}

const folder = temporaryFolder();
/** On the same file system as node_modules, which is hard-linked into the trees. */
const trees = join(ROOT, `dist/trees-${process.pid}`);
const at = (...path: string[]) => join(folder.path, ...path);

describe.skipIf(!docker || lacks(missing.join(", "), missing.length === 0))("a release", () => {
  const outs = [at("out-1"), at("out-2")];
  const name = `skep-packages-${process.pid}`;
  const out = outs[0]!;

  beforeAll(async () => {
    const [first, second] = [join(trees, "tree-1"), join(trees, "another/tree-2")];
    const cloneTree = async (from: string, to: string) => {
      await must(["git", "clone", "--quiet", from, to]);
      await must(["cp", "-al", join(ROOT, "node_modules"), join(to, "node_modules")]);
    };
    await cloneTree(ROOT, first!);
    const git = ["git", "-C", first!, "-c", "user.name=t", "-c", "user.email=t@example.org"];
    await must([process.execPath, "scripts/release.ts", "keygen", at("key.pem")], { cwd: first! });
    const log = join(first!, "CHANGELOG.md");
    writeFileSync(log, readFileSync(log, "utf8").replace("## [Unreleased]", `## [Unreleased]\n\n## [${version}]`));
    await must([...git, "commit", "--quiet", "--all", "--message", `release ${version}`]);
    await cloneTree(first!, second!);
    for (const [i, tree] of [first!, second!].entries()) {
      const files = ["--key", at("key.pem"), "--out", outs[i]!];
      const flags = [...files, "--url", URL, "--targets", "linux-x64", "--no-image", "--fast"];
      await must([process.execPath, "scripts/release.ts", version, ...flags], { cwd: tree });
    }
  });
  afterAll(async () => {
    await run(["docker", "rm", "--force", name]);
    for (const image of [`${name}:latest`, `skep:0.0.0-test${process.pid}`])
      await run(["docker", "rmi", "--force", image]);
    folder.remove();
    rmSync(trees, { recursive: true, force: true });
  });

  test("has the same bytes when it is made again in another folder", () => {
    const sums = outs.map((path) => readFileSync(join(path, "SHA256SUMS"), "utf8"));
    expect(sums[0]!.split("\n").map((line) => line.split("  ")[1])).toContain(`skep-${version}-linux-x64.tar.gz`);
    expect(sums[1]).toBe(sums[0]!);
    const bill = JSON.parse(readFileSync(join(out, `skep-${version}.cdx.json`), "utf8"));
    expect(bill.bomFormat).toBe("CycloneDX");
    const names = bill.components.map(({ name }: { name: string }) => name);
    expect(names).toEqual(expect.arrayContaining(["bun", "elysia", "kuzu", "tree-sitter-go"]));
  });

  describe("install.sh", () => {
    const install = (from: string, ...more: string[]) =>
      run(["sh", join(out, "install.sh"), "--from", from, "--dir", at("bin"), ...more]);

    test("installs from a web server after it has checked the signature", async () => {
      const server = Bun.serve({
        hostname: "127.0.0.1",
        port: 0,
        fetch: (request) => new Response(Bun.file(join(out, new globalThis.URL(request.url).pathname))),
      });
      const { code, stdout, stderr } = await install(`http://127.0.0.1:${server.port}`);
      await server.stop(true);
      expect(stderr).toBe("");
      expect(code).toBe(0);
      expect(stdout).toContain(`Skep ${version} is installed as ${at("bin")}/skep.`);
      expect(await must([at("bin/skep"), "--version"])).toBe(version);
    });

    test("refuses a list of digests that somebody else signed, and an archive that is not the listed one", async () => {
      const changed = at("changed");
      cpSync(out, changed, { recursive: true });
      appendFileSync(join(changed, `skep-${version}-linux-x64.tar.gz`), "more");
      const damaged = await install(changed);
      expect(damaged).toMatchObject({ code: 1, stderr: expect.stringContaining("is damaged: its digest is") });
      appendFileSync(join(changed, "SHA256SUMS"), "\n");
      const forged = await install(changed);
      expect(forged).toMatchObject({ code: 1, stderr: expect.stringContaining("is not by the release key") });
      const absent = await install(at("nowhere"));
      expect(absent).toMatchObject({ code: 1, stderr: expect.stringContaining("SHA256SUMS is not there") });
    });
  });

  test("the Debian package installs a server of its own user, keeps settings and data over an upgrade and a removal, and leaves nothing after a purge", async () => {
    const executable = join(out, "skep-linux-x64");
    mkdirSync(at("work"));
    const later = makeDebianPackage({
      version: "9.0.0",
      epoch: 1_700_000_000,
      url: URL,
      out: folder.path,
      work: at("work"),
      executable,
      architecture: "amd64",
      fast: true,
      manual: "",
      licences: "",
    });
    // Without apt and its dependencies, because unpacking and configuring them takes half of the work.
    const include = "--include=usr-is-merged,systemd,libstdc++6,libgcc-s1,passwd";
    const hooks = "--hook-dir=/usr/share/mmdebstrap/hooks/merged-usr";
    const makeRoot = ["mmdebstrap", "--variant=essential", hooks, "--quiet", include, "bookworm", at("root.tar")];
    // The packages come from a mirror that may be unreachable for a moment, so try twice.
    if ((await run(makeRoot)).code !== 0) await must(makeRoot);
    await must(["docker", "import", at("root.tar"), `${name}:latest`]);
    await must([
      "docker",
      "run",
      "--detach",
      "--name",
      name,
      "--network",
      "none",
      "--init",
      "--volume",
      `${out}:/out:ro`,
      "--volume",
      `${folder.path}:/later:ro`,
      `${name}:latest`,
      "sleep",
      "infinity",
    ]);
    const inside = (script: string) => must(["docker", "exec", name, "sh", "-c", script]);
    const paths = async () =>
      (await inside("find / -xdev -path /proc -prune -o -print | grep -i skep || true")).split("\n");

    await inside(`dpkg --install /out/skep_${version}_amd64.deb`);
    expect(await inside("stat -c '%U %a' /var/lib/skep /etc/skep.env")).toBe("skep 700\nroot 600");
    expect(await inside("readlink /etc/systemd/system/multi-user.target.wants/skep.service")).toContain("skep.service");
    expect(await inside("skep --version; zcat /usr/share/man/man1/skep.1.gz | head -n 1")).toContain(version);
    const updated = await run(["docker", "exec", name, "skep", "update", "--from", "/out"]);
    expect(updated).toMatchObject({ code: 2, stderr: expect.stringContaining("apt install ./skep_VERSION.deb") });
    const serve = "runuser -u skep -- env DATA=/var/lib/skep skep";
    await inside(`${serve} serve --sandbox process >/tmp/served 2>&1 & echo $! >/tmp/pid
      until ${serve} health --data /var/lib/skep; do kill -0 $(cat /tmp/pid) || { cat /tmp/served; exit 1; }; sleep 0.2; done`);
    expect(await inside("ps -o user= -C skep 2>/dev/null || stat -c %U /var/lib/skep/skep.db")).toContain("skep");
    await inside(`${serve} run hello 'Greet me' --follow --data /var/lib/skep`);
    await inside("kill $(cat /tmp/pid) && while kill -0 $(cat /tmp/pid) 2>/dev/null; do sleep 0.2; done");

    await inside(`echo PORT=8123 >>/etc/skep.env; dpkg --install /later/${later.split("/").at(-1)}`);
    expect(await inside("tail -n 1 /etc/skep.env; dpkg-query --show skep")).toContain("PORT=8123");
    await inside("dpkg --remove skep");
    expect(await paths()).toEqual(expect.arrayContaining(["/etc/skep.env", "/var/lib/skep/skep.db"]));
    expect(await paths()).not.toContain("/usr/bin/skep");
    await inside("dpkg --purge skep");
    expect(await inside("getent passwd skep || true")).toBe("");
    expect((await paths()).filter((path) => path !== "" && !path.startsWith("/later"))).toEqual([]);
  });

  test("the image starts on a read-only root without rights", async () => {
    const image = `skep:0.0.0-test${process.pid}`;
    mkdirSync(at("image"));
    const path = makeImage({
      version: `0.0.0-test${process.pid}`,
      epoch: 1_700_000_000,
      url: URL,
      out: folder.path,
      work: at("image"),
      executable: join(out, "skep-linux-x64"),
      architecture: "amd64",
    });
    await must(["docker", "load", "--quiet", "--input", path]);
    const box = [
      "docker",
      "run",
      "--rm",
      "--env",
      "SANDBOX=process",
      "--read-only",
      "--cap-drop",
      "ALL",
      "--network",
      "none",
    ];
    expect(await must([...box, image, "--version"])).toBe(version);
    expect(await must([...box, "--entrypoint", "git", image, "--version"])).toStartWith("git version");
    // A server on an empty folder that runs a pipeline to its end.
    const data = ["--tmpfs", "/tmp", "--tmpfs", "/var/lib/skep:exec"];
    const ran = await must([...box, ...data, image, "run", "hello", "Hi", "--private"]);
    expect(ran).toContain("succeeded");
  });

  test("the unit that the package and `skep service` write is below 3.0 for systemd-analyze", async () => {
    const unit = await must([join(out, "skep-linux-x64"), "service", "install", "--print"]);
    expect(unit).toContain("ExecStart=");
    writeFileSync(at("skep.service"), unit);
    const said = await must(["systemd-analyze", "security", "--offline=true", at("skep.service")]);
    expect(Number(/exposure level for skep\.service: ([\d.]+)/.exec(said)?.[1])).toBeLessThan(3);
  });

  test("skep service install --root writes unit and user below a folder; remove takes the unit away", async () => {
    const root = at("rootfs");
    mkdirSync(join(root, "etc"), { recursive: true });
    for (const file of ["passwd", "group"]) writeFileSync(join(root, "etc", file), "");
    const service = (...args: string[]) => run([join(out, "skep-linux-x64"), "service", ...args, "--root", root]);
    const installed = await service("install");
    expect(installed.stderr).toBe("");
    const unit = join(root, "etc/systemd/system/skep.service");
    expect(statSync(unit).mode & 0o777).toBe(0o644);
    expect(readFileSync(join(root, "etc/passwd"), "utf8")).toContain("skep:");
    expect((await service("remove")).stdout).toContain("Your data stays in /var/lib/skep");
    expect(existsSync(unit)).toBe(false);
    expect(await service("remove")).toMatchObject({ code: 1, stderr: expect.stringContaining("There is no service") });
  });
});
