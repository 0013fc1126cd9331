/** A small repository in the manner of a stranger's, and the calls that its compiler sees. */
export interface Case {
  /** What is written, in a few words. */
  title: string;
  files: Readonly<Record<string, string>>;
  /** `caller > callee`, names qualified as far as needed; `@ file:line` where a caller has several. */
  calls: readonly string[];
  /** Calls that must not be found. */
  not?: readonly string[];
}

const PARCEL = "export class Parcel { stamp(mark: string): Parcel { return this; } weight(): number { return 0; } }\n";

/** A depot whose `send` is a property of the type `Send`, used with one or more callbacks. */
export function depot(
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
