/** A small repository that resembles real-world code, and the calls that its compiler sees. */
export interface Case {
  /** What the case shows, in a few words. */
  title: string;
  files: Readonly<Record<string, string>>;
  /**
   * Calls as `caller > callee`. Names are qualified as far as needed. `@ file:line` tells several calls of a caller
   * apart.
   */
  calls: readonly string[];
  /** Calls that the graph must not contain. */
  not?: readonly string[];
}

const PARCEL = "export class Parcel { stamp(mark: string): Parcel { return this; } weight(): number { return 0; } }\n";

/** A case with a class whose `send` is a property of the type `Send`, called with one or more callbacks. */
export function createDepotCase(
  title: string,
  types: string,
  use: string,
  calls: readonly string[] = ["main > Parcel.stamp"],
): Case {
  return {
    title,
    files: {
      "parcel.ts": PARCEL,
      "depot.ts": `import { Parcel } from './parcel';\n${types}\nexport class Depot { send!: Send }\n`,
      "use.ts": `import { Depot } from './depot';\nexport function main() {\n  const depot = new Depot();\n  ${use}\n}\n`,
    },
    calls: ["main > Depot", "main > Depot.send", ...calls],
  };
}
