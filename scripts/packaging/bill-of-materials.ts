/** Describes what the executable consists of: a CycloneDX bill of materials, and the licences of all parts. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import manifest from "../../package.json" with { type: "json" };
import { type Release, run } from "./shell.ts";

interface Component {
  "bom-ref": string;
  name: string;
  version: string;
  purl: string;
  licenses?: { license?: { id?: string; name?: string }; expression?: string }[];
}

interface Bom {
  serialNumber?: string;
  metadata: { timestamp: string; component: { name: string; version: string; type: string } };
  components: Component[];
  dependencies?: unknown[];
}

/** Development packages whose content the build puts into the executable. */
const isEmbedded = (name: string): boolean =>
  name === "bun" || name === "tailwindcss" || name.startsWith("tree-sitter-");

function listComponents(): Bom {
  const asked = ["npm", "sbom", "--sbom-format", "cyclonedx", "--package-lock-only"];
  const bom = JSON.parse(run([...asked, "--omit", "dev"])) as Bom;
  const names = Object.keys(manifest.devDependencies).filter(isEmbedded);
  const all = JSON.parse(run(asked)) as Bom;
  bom.components.push(...all.components.filter(({ name }) => names.includes(name)));
  return bom;
}

/** @returns the bill as JSON, which depends only on the lock file, and the texts of the licences. */
export function describeMaterials({ version, epoch }: Release): { bill: string; licences: string } {
  const bom = listComponents();
  // The serial number and the time of creation would differ each time.
  delete bom.serialNumber;
  bom.metadata.timestamp = new Date(epoch * 1_000).toISOString();
  Object.assign(bom.metadata.component, { name: "skep", version, type: "application" });
  bom.components.sort((a, b) => (a.purl < b.purl ? -1 : a.purl > b.purl ? 1 : 0));
  return { bill: `${JSON.stringify(bom, null, 1)}\n`, licences: licenceTexts(bom.components) };
}

const RULE = `${"-".repeat(80)}\n`;

function licenceTexts(components: Component[]): string {
  const seen = new Set<string>();
  const parts = ["Skep holds the following software of others.\n"];
  for (const { name, version, purl, licenses = [] } of components) {
    if (seen.has(purl)) continue;
    seen.add(purl);
    const names = licenses.map(({ license, expression }) => expression ?? license?.id ?? license?.name).join(", ");
    parts.push(`${RULE}${name} ${version}: ${names || "see its text"}\n\n${licenceText(name)}\n`);
  }
  return parts.join("");
}

function licenceText(name: string): string {
  const folder = join("node_modules", name);
  if (!existsSync(folder)) return "";
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|copying|notice)/i.test(file));
  return files
    .sort()
    .map((file) => readFileSync(join(folder, file), "utf8").trim())
    .join("\n\n");
}
