/** Builds the Debian package: the executable, the service's unit and user, shell completion, and the manual page. */
import { chmodSync, copyFileSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { COMPLETIONS } from "../../src/cli/completion.ts";
import { SYSUSERS, systemdUnit } from "../../src/cli/service/systemd-unit.ts";
import { fillTemplate, put, type Release, run } from "./shell.ts";

interface PackageInput extends Release {
  executable: string;
  /** Debian's name, e.g. `amd64`. */
  architecture: string;
  /** Text of the manual page. */
  manual: string;
  licences: string;
}

const SETTINGS = `# Settings of the Skep service, one NAME=value a line; skep config shows all. Afterwards: systemctl restart skep
#HOST=127.0.0.1
#PORT=8000
`;

/** Builds the package. @returns its path in `out`. */
export function makeDebianPackage(input: PackageInput): string {
  const { version, epoch, executable, architecture, out, work, fast } = input;
  const root = join(work, `deb-${architecture}`);
  rmSync(root, { recursive: true, force: true });
  mkdirSync(join(root, "usr/bin"), { recursive: true, mode: 0o755 });
  copyFileSync(executable, join(root, "usr/bin/skep"));
  chmodSync(join(root, "usr/bin/skep"), 0o755);
  putFiles(root, input);
  const bytes = Number(run(["du", "-sk", "--apparent-size", root]).split("\t")[0]);
  // In Debian versions, a tilde sorts before everything else: 1.0.0~rc.1 is older than 1.0.0.
  const debian = version.replace("-", "~");
  put(
    root,
    "DEBIAN/control",
    fillTemplate("control", { VERSION: debian, ARCHITECTURE: architecture, KILOBYTES: String(bytes) }),
  );
  put(root, "DEBIAN/conffiles", "/etc/skep.env\n");
  for (const script of ["postinst", "prerm", "postrm"]) put(root, `DEBIAN/${script}`, fillTemplate(script, {}), 0o755);
  const path = join(out, `skep_${debian}_${architecture}.deb`);
  run(["find", root, "-exec", "touch", "--no-dereference", `--date=@${epoch}`, "{}", "+"]);
  const compression = ["-Zzstd", fast ? "-z1" : "-z12", "--threads-max=1"];
  run(["dpkg-deb", "--root-owner-group", ...compression, "--build", root, path], { epoch });
  rmSync(root, { recursive: true });
  return path;
}

function putFiles(root: string, { manual, licences }: PackageInput): void {
  const unit = systemdUnit({
    executable: "/usr/bin/skep",
    data: "/var/lib/skep",
    scope: "system",
    environmentFile: "/etc/skep.env",
  });
  put(root, "usr/lib/systemd/system/skep.service", unit);
  put(root, "usr/lib/sysusers.d/skep.conf", SYSUSERS);
  put(root, "etc/skep.env", SETTINGS, 0o600);
  put(root, "usr/share/man/man1/skep.1.gz", gzip(manual));
  put(root, "usr/share/doc/skep/copyright", `${fillTemplate("copyright", {})}\n${licences}`);
  put(root, "usr/share/bash-completion/completions/skep", `${COMPLETIONS.bash}\n`);
  put(root, "usr/share/zsh/vendor-completions/_skep", `${COMPLETIONS.zsh}\n`);
  put(root, "usr/share/fish/vendor_completions.d/skep.fish", `${COMPLETIONS.fish}\n`);
}

/** Compresses without a name and time in the header, so that the bytes are always the same. */
const gzip = (text: string): Buffer => gzipSync(text, { level: 9 });
