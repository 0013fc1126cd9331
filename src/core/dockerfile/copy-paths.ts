/** Converts the sources of `COPY` and `ADD` to paths from the top. */
import { posix } from "node:path";

/** Path from the top of another image. */
export function pathInImage(source: string): string {
  const path = posix.normalize(`/${source}`).replace(/\/$/, "");
  if (path === "/" || path === "")
    throw new Error("COPY --from takes files and folders, not all of an image. Name them.");
  return path.slice(1);
}

/** Path from the top of the context, normalized. */
export function pathInContext(source: string, word: string): string {
  if (/^[A-Za-z][A-Za-z0-9+.-]*:\/\/|^git@/.test(source))
    throw new Error(
      "ADD of an address is not supported. Download it with RUN, from a host that the environment's `network` allows.",
    );
  if (word === "ADD" && /\.(?:tar|tgz|tbz2?|txz|gz|bz2|xz|zst)$/i.test(source))
    throw new Error("ADD does not unpack archives here. COPY it, and unpack it with RUN.");
  if (source.split("/").includes(".."))
    throw new Error(`${word} leads out of the build's files: ${source.slice(0, 100)}`);
  const path = posix.normalize(`/${source}`).replace(/\/$/, "");
  return path === "/" ? "" : path.slice(1);
}
