/**
 * This machine in the role of another one that is reached over SSH. No port is used: each connection starts its own
 * sshd.
 */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const SSHD = "/usr/sbin/sshd";

export const hasSshd = (): boolean => existsSync(SSHD) && Bun.which("ssh") !== null;

export interface SshHostForTests {
  /** Environment in which `ssh` reaches the host `far`, and no other host. */
  env: Record<string, string>;
  /** `known`: whether the host key is known. `let`: whether the host accepts this user. */
  set(what: { known?: boolean; let?: boolean }): void;
  /** Ends the current connection, as if the machine failed. */
  cut(): void;
  /** Number of connections so far. */
  connections(): number;
  close(): void;
}

export function openSshHost(): SshHostForTests {
  const folder = mkdtempSync(join(tmpdir(), "skep-sshd-"));
  const at = (name: string) => join(folder, name);
  const username = Bun.spawnSync(["id", "-un"]).stdout.toString().trim();
  for (const name of ["host", "user"])
    Bun.spawnSync(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", at(name)], { stdin: "ignore" });
  if (process.getuid?.() === 0) mkdirSync("/run/sshd", { recursive: true });
  writeFileSync(
    at("sshd.conf"),
    [
      `HostKey ${at("host")}`,
      `AuthorizedKeysFile ${at("let-in")}`,
      "StrictModes no",
      "UsePAM no",
      "PidFile none",
      "PermitRootLogin yes",
      "PasswordAuthentication no",
      "KbdInteractiveAuthentication no",
      "LogLevel QUIET",
    ].join("\n"),
  );
  writeFileSync(at("pids"), "");
  writeFileSync(at("sshd"), `#!/bin/sh\necho $$ >> ${at("pids")}\nexec ${SSHD} -i -f ${at("sshd.conf")}\n`);
  writeFileSync(
    at("config"),
    `Host far\n  User ${username}\n  IdentityFile ${at("user")}\n  IdentitiesOnly yes\n  UserKnownHostsFile ${at("known")}\n  GlobalKnownHostsFile none\n  ProxyCommand ${at("sshd")}\n  ForwardAgent yes\n`,
  );
  mkdirSync(at("bin"));
  writeFileSync(at("bin/ssh"), `#!/bin/sh\nexec ${Bun.which("ssh")} -F ${at("config")} "$@"\n`);
  for (const program of ["sshd", "bin/ssh"]) chmodSync(at(program), 0o755);
  const pids = () => readFileSync(at("pids"), "utf8").split("\n").filter(Boolean).map(Number);
  const set: SshHostForTests["set"] = (what) => {
    const key = readFileSync(at("host.pub"), "utf8");
    if (what.known !== undefined) writeFileSync(at("known"), what.known ? `far ${key}` : "");
    if (what.let !== undefined) writeFileSync(at("let-in"), what.let ? readFileSync(at("user.pub")) : "");
  };
  set({ known: true, let: true });
  return {
    env: { PATH: `${at("bin")}:${process.env["PATH"] ?? ""}`, HOME: folder, TMPDIR: folder },
    set,
    cut: () => process.kill(pids().at(-1)!, "SIGKILL"),
    connections: () => pids().length,
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}
