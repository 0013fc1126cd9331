/** Most characters of the project's name. Each takes at most four bytes, and file systems allow 255. */
const MAX_CHARACTERS = 60;

/**
 * The name of the file that a project is exported to: the project's name without characters that a shell or a file system
 * may not take. Letters of all languages stay.
 */
export function archiveName(project: string): string {
  const letters = project.normalize("NFC").replaceAll(/[^\p{L}\p{N}._-]+/gu, "-");
  const name = [...letters]
    .slice(0, MAX_CHARACTERS)
    .join("")
    .replace(/^[.-]+/, "")
    .replace(/(?<![.-])[.-]+$/, "");
  return `${name || "project"}.skep.tar.gz`;
}
