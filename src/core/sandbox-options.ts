/** Options of the configuration for where agents work, and for the container engine. */
import { option, text, worded } from "./config-option.ts";

export const SANDBOX_OPTIONS = {
  sandbox: worded("SANDBOX", "Where agents work.", "auto", "docker", "kubernetes", "process"),
  sandboxWorkspace: worded(
    "SANDBOX_WORKSPACE",
    "How containers get their files: the engine mounts the data folder, or they are carried.",
    "mounted",
    "detached",
  ),
  dockerHost: option<string | undefined>({
    env: "DOCKER_HOST",
    about: "Docker engine, e.g. unix:///var/run/docker.sock.",
    accepts: "a unix://, ssh://, tcp:// or http:// address",
    default: undefined,
    read: (v) => (/^(unix|ssh|tcp|https?):\/\//.test(v) ? v : undefined),
  }),
  dockerCertPath: option<string | undefined>({
    env: "DOCKER_CERT_PATH",
    about: "Folder with ca.pem, cert.pem and key.pem, for a Docker engine over TLS.",
    accepts: "a path",
    default: undefined,
    read: text,
  }),
};
