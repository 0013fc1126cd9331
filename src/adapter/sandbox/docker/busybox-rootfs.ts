/**
 * Makes a small root file system from one static busybox: enough of a shell for an agent on a machine without a
 * registry.
 */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { Readable } from "node:stream";
import { promisify } from "node:util";
import { pack } from "tar-stream";
import { Problem } from "../../../core/errors.ts";

/** Paths at which distributions install a statically linked busybox. */
export const BUSYBOX_PATHS: readonly string[] = [
  "/bin/busybox",
  "/usr/bin/busybox",
  "/bin/busybox.static",
  "/usr/lib/busybox/busybox-static",
  "/usr/local/bin/busybox",
];

const CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt";
const FOLDERS: readonly [name: string, mode: number][] = [
  ["bin", 0o755],
  ["usr/bin", 0o755],
  ["dev", 0o755],
  ["proc", 0o755],
  ["sys", 0o755],
  ["etc/ssl/certs", 0o755],
  ["home/agent", 0o777],
  ["tmp", 0o1777],
  ["workspace", 0o777],
];
const PASSWD = "root:x:0:0:root:/:/bin/sh\nagent:x:10001:10001:agent:/home/agent:/bin/sh\n";
const GROUP = "root:x:0:\nagent:x:10001:\n";

export interface BusyboxRootfs {
  tar: Readable;
  /** Hash of the whole content. */
  hash: string;
}

/** Makes it from the first static busybox in `paths`. @throws Problem 422 `busybox_missing` when there is none. */
export async function busyboxRootfs(paths: readonly string[] = BUSYBOX_PATHS): Promise<BusyboxRootfs> {
  const { path, binary } = await findBusybox(paths);
  const { stdout } = await promisify(execFile)(path, ["--list"], { env: {} });
  const applets = stdout.split("\n").filter((name) => /^[\w[.-]+$/.test(name) && name !== "busybox");
  const certificates = await readFile(CERTIFICATES).catch(() => undefined);
  const files: [name: string, mode: number, data: Buffer][] = [
    ["bin/busybox", 0o755, binary],
    ["etc/passwd", 0o644, Buffer.from(PASSWD)],
    ["etc/group", 0o644, Buffer.from(GROUP)],
  ];
  if (certificates) files.push(["etc/ssl/certs/ca-certificates.crt", 0o644, certificates]);
  const tar = pack();
  const hash = createHash("sha256").update(JSON.stringify([FOLDERS, applets]));
  const mtime = new Date(0);
  for (const [name, mode] of FOLDERS) tar.entry({ name, mode, mtime, type: "directory" });
  for (const [name, mode, data] of files) {
    tar.entry({ name, mode, mtime }, data);
    hash.update(name).update(data);
  }
  for (const name of applets) tar.entry({ name: `bin/${name}`, type: "symlink", linkname: "busybox", mtime });
  tar.finalize();
  return { tar: tar as unknown as Readable, hash: hash.digest("hex") };
}

/** Whether this machine has a static busybox. */
export const hasBusybox = async (paths: readonly string[] = BUSYBOX_PATHS): Promise<boolean> =>
  (await findBusybox(paths).catch(() => undefined)) !== undefined;

async function findBusybox(paths: readonly string[]): Promise<{ path: string; binary: Buffer }> {
  for (const path of paths) {
    const binary = await readFile(path).catch(() => undefined);
    if (binary && isStaticElf(binary)) return { path, binary };
  }
  throw new Problem(
    422,
    "busybox_missing",
    `No static busybox on this machine (looked at ${paths.join(", ")}). Install the package busybox-static, or give a root file system: skep image build --rootfs FILE.`,
  );
}

const PT_INTERP = 3;

/** Whether the file is an ELF program without a dynamic loader. Only 64-bit, little-endian programs are recognized. */
function isStaticElf(binary: Buffer): boolean {
  if (binary.length < 64 || binary.readUInt32BE(0) !== 0x7f454c46 || binary[4] !== 2 || binary[5] !== 1) return false;
  const start = Number(binary.readBigUInt64LE(32));
  const size = binary.readUInt16LE(54);
  const count = binary.readUInt16LE(56);
  for (let index = 0; index < count; index++) {
    const at = start + index * size;
    if (at + 4 > binary.length || binary.readUInt32LE(at) === PT_INTERP) return false;
  }
  return true;
}
