/** Temporary folders of source code for tests of the graph, with or without git. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export interface SourceTree {
  /** Absolute path. */
  root: string;
  /** Path for a folder beside it, which is created on demand and removed with it. */
  store: string;
  write(path: string, text: string | Uint8Array): void;
  git(...args: string[]): string;
  remove(): void;
}

/** Creates a folder with these files. It is a repository with one commit, unless `git` is false. */
export function createSourceTree(files: Readonly<Record<string, string>>, { git = true } = {}): SourceTree {
  const folder = mkdtempSync(join(tmpdir(), "skep-source-"));
  const root = join(folder, "repository");
  mkdirSync(root);
  const tree: SourceTree = {
    root,
    store: join(folder, "store"),
    write(path, text) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    },
    git(...args) {
      const identity = [
        "-c",
        "user.name=Test",
        "-c",
        "user.email=test@example.test",
        "-c",
        "protocol.file.allow=always",
      ];
      const run = Bun.spawnSync(["git", ...identity, ...args], { cwd: root, stderr: "pipe" });
      if (run.exitCode !== 0) throw new Error(`git ${args.join(" ")}: ${run.stderr}`);
      return run.stdout.toString();
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
  for (const [path, text] of Object.entries(files)) tree.write(path, text);
  if (git) {
    tree.git("init", "-q", "-b", "main");
    tree.git("add", "-A");
    tree.git("commit", "-q", "--allow-empty", "-m", "first");
  }
  return tree;
}

/** A small shop in TypeScript, with a call across files, a class, and a flow of three steps. */
export const SHOP = {
  "src/main.ts":
    'import { Cart } from "./cart.ts";\n\nexport function main(): number {\n  const cart = new Cart();\n  cart.add(3);\n  return cart.total();\n}\n',
  "src/cart.ts":
    'import { withTax } from "./tax.ts";\n\n/** What a customer takes along. */\nexport class Cart {\n  private prices: number[] = [];\n\n  add(price: number): void {\n    this.prices.push(price);\n  }\n\n  total(): number {\n    return withTax(this.prices.reduce((sum, price) => sum + price, 0));\n  }\n}\n',
  "src/tax.ts":
    "export function withTax(amount: number): number {\n  return round(amount * 1.2);\n}\n\nfunction round(amount: number): number {\n  return Math.round(amount);\n}\n",
};

/** Many files with calls, so that indexing takes long enough to be interrupted. */
export function manyFiles(count: number): Record<string, string> {
  const files: Record<string, string> = {};
  for (let n = 0; n < count; n++) {
    const body = Array.from(
      { length: 20 },
      (_, i) => `export function work${n}_${i}(x: number): number {\n  return other${i % 3}(x + ${i});\n}\n`,
    );
    const imports = [0, 1, 2].map(
      (i) => `import { work${(n + i + 1) % count}_${i} as other${i} } from "./file${(n + i + 1) % count}.ts";\n`,
    );
    files[`src/file${n}.ts`] = imports.join("") + body.join("");
  }
  return files;
}
