/** Skep's programs that run inside containers; the executable embeds them. */
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { unavailable } from "../../../core/errors.ts";
import carrierArm64 from "../detached/carrier-arm64" with { type: "file" };
import carrierX64 from "../detached/carrier-x64" with { type: "file" };
import relayArm64 from "./relay-arm64" with { type: "file" };
import relayX64 from "./relay-x64" with { type: "file" };

/** Programs by the container engines' names for the architecture. */
export const RELAY_PROGRAMS: Readonly<Record<string, string>> = {
  amd64: relayX64,
  x86_64: relayX64,
  arm64: relayArm64,
  aarch64: relayArm64,
};
export const CARRIER_PROGRAMS: Readonly<Record<string, string>> = {
  amd64: carrierX64,
  x86_64: carrierX64,
  arm64: carrierArm64,
  aarch64: carrierArm64,
};

/** The relay's program. @throws Problem 503 `network_unguarded` when there is none for the architecture. */
export function relayBytes(arch: string): Buffer {
  const embedded = RELAY_PROGRAMS[arch];
  if (embedded !== undefined) return readFileSync(embedded);
  throw unavailable(
    "network_unguarded",
    `Sandboxes on ${arch} have no controlled way out: set \`network: none\` for the agent, or use an engine on x86_64 or arm64.`,
  );
}

/** The carrier's program. @throws Problem 503 `sandbox_unavailable` when there is none for the architecture. */
export function carrierBytes(arch: string): Buffer {
  const embedded = CARRIER_PROGRAMS[arch];
  if (embedded !== undefined) return readFileSync(embedded);
  throw unavailable(
    "sandbox_unavailable",
    `Files cannot be carried to an engine on ${arch}: set SANDBOX_WORKSPACE=mounted, or use one on x86_64 or arm64.`,
  );
}

/**
 * Writes the relay's program to a folder from which containers of this machine's engine can mount it.
 * @param arch the container engine's architecture. @returns the path of the program in `folder`; it is written if it is
 * missing.
 * @throws Problem 503 `network_unguarded` when there is none for the architecture.
 */
export function relayProgram(folder: string, arch: string): string {
  const bytes = relayBytes(arch);
  const name = `relay-${arch}-${createHash("sha256").update(bytes).digest("hex").slice(0, 16)}`;
  const path = join(folder, name);
  if (holds(path, bytes)) return path;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const draft = `${path}.${process.pid}`;
  try {
    writeFileSync(draft, bytes, { mode: 0o500 });
    renameSync(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
  for (const old of readdirSync(folder))
    if (old !== name && old.startsWith(`relay-${arch}-`)) rmSync(join(folder, old), { force: true });
  return path;
}

function holds(path: string, bytes: Uint8Array): boolean {
  try {
    return readFileSync(path).equals(bytes);
  } catch {
    return false;
  }
}
