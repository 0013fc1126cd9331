/** Of four bytes each at most: file systems take 255 bytes. */
const MAX_CHARACTERS = 60;

/** The file that a project is exported to: its name as every file system and shell takes it, with letters of all languages. */
export function archiveName(project: string): string {
  const letters = project.normalize("NFC").replaceAll(/[^\p{L}\p{N}._-]+/gu, "-");
  const name = [...letters]
    .slice(0, MAX_CHARACTERS)
    .join("")
    .replaceAll(/^[.-]+|[.-]+$/g, "");
  return `${name || "project"}.skep.tar.gz`;
}
