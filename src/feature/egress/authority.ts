/**
 * Puts the certificate of a sandbox's authority where the sandbox's programs look for trusted certificates, in one file
 * with the image's own. This happens before any command of the agent runs. The certificate is not secret, and a program
 * that changes it harms only its own sandbox.
 */
import { unavailable } from "../../core/errors.ts";
import type { Sandbox } from "../../engine/sandbox.ts";

const FILE = "/tmp/.skep-ca.pem";
const SCRIPT = `for file in /etc/ssl/certs/ca-certificates.crt /etc/ssl/cert.pem /etc/pki/tls/certs/ca-bundle.crt; do
  if [ -r "$file" ]; then cat "$file"; break; fi
done > ${FILE} && cat >> ${FILE}`;
const TIMEOUT_MS = 60_000;

/** @returns the environment variables that point programs to the file. @throws Problem 503 `edge_unavailable`. */
export async function layAuthority(sandbox: Pick<Sandbox, "exec">, pem: string): Promise<Record<string, string>> {
  const { exitCode, output } = await sandbox.exec(["sh", "-c", SCRIPT], {
    cwd: "/",
    stdin: pem,
    timeoutMs: TIMEOUT_MS,
    maxOutputBytes: 4_096,
  });
  if (exitCode !== 0)
    throw unavailable(
      "edge_unavailable",
      `The certificate for credentials could not be laid into the sandbox: ${output.trim().slice(0, 200)}. The image needs \`sh\` and \`cat\`.`,
    );
  return Object.fromEntries(VARIABLES.map((name) => [name, FILE]));
}

/** Variables of OpenSSL and Go, curl, git, Node, Python's requests and pip, cargo, Deno, the AWS tools. */
const VARIABLES = [
  "SSL_CERT_FILE",
  "CURL_CA_BUNDLE",
  "GIT_SSL_CAINFO",
  "NODE_EXTRA_CA_CERTS",
  "REQUESTS_CA_BUNDLE",
  "PIP_CERT",
  "CARGO_HTTP_CAINFO",
  "DENO_CERT",
  "AWS_CA_BUNDLE",
];
