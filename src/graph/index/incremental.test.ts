/** After any sequence of edits, an incremental index equals a full one. */
import { afterEach, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createSourceTree, SHOP, type SourceTree } from "../../testing/source-tree.ts";
import { exportLines } from "../serve/export.ts";
import { createGraphSession, type GraphSession } from "../serve/session.ts";

const trees: SourceTree[] = [];
afterEach(() => {
  for (const tree of trees.splice(0)) tree.remove();
});

/** A sequence of small pseudo-random numbers, the same for the same seed (mulberry32). */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * below);
  };
}

const START: Record<string, string> = {
  ...SHOP,
  "src/index.ts": 'export * from "../cart.ts";\nexport { withTax as taxed } from "../tax.ts";\n',
  "src/shop.ts":
    'import { Cart, taxed } from "../index.ts";\nimport * as hooks from "../hooks.ts";\n@hooks.logged\nexport class Shop extends Cart {\n  @hooks.logged\n  close() {\n    return taxed(super.total());\n  }\n}\n',
  "src/hooks.ts": "export function logged(target: unknown) {\n  return target;\n}\n",
  "py/bank.py": "from .money import Money, rounded\n\n@rounded\ndef pay(amount):\n    return Money(amount).round()\n",
  "py/__init__.py": "",
  "py/money.py":
    "def rounded(function):\n    return function\n\nclass Money:\n    def __init__(self, amount):\n        self.amount = amount\n    def round(self):\n        return self.amount\n",
  "go/go.mod": "module example.test/shop\n",
  "go/main.go": "package main\n\nfunc main() { help() }\n",
  "go/help.go": "package main\n\nfunc help() int { return 1 }\n",
};

const everything = (session: GraphSession): string[] => [...exportLines(session.graph(), "jsonl")];

/** What searches find, and with which scores. The word index is kept apart from the graph, so it is compared too. */
function searches(session: GraphSession): unknown {
  const queries = ["withTax", "round total", "file of a graph", "cart", "lin"];
  return queries.map((query) => session.query({ query, limit: 20, includeCode: false }).items);
}

/** Makes an edit that also changes what other files mean. */
function edit(tree: SourceTree, paths: string[], random: (below: number) => number): string {
  const path = paths[random(paths.length)]!;
  const text = readFileSync(join(tree.root, path), "utf8");
  const lines = text.split("\n");
  switch (random(7)) {
    case 0: {
      tree.write(path, `${text}\n`);
      return `touched ${path}`;
    }
    case 1: {
      lines.splice(random(lines.length), 1);
      tree.write(path, lines.join("\n"));
      return `a line less in ${path}`;
    }
    case 2: {
      const [from, to] = [
        ["withTax", "round", "Cart", "total", "help", "Money", "logged", "rounded", "hooks"],
        ["gross", "round", "Basket", "sum", "aid", "Coin", "traced", "cut", "marks"],
      ];
      const at = random(from.length);
      tree.write(path, text.replaceAll(from[at]!, to[at]!));
      return `${from[at]} → ${to[at]} in ${path}`;
    }
    case 3: {
      const made = path.replace(/(\w+)\.(\w+)$/, `$1${random(100)}.$2`);
      if (paths.includes(made) || path.endsWith("go.mod")) return "nothing";
      renameSync(join(tree.root, path), join(tree.root, made));
      return `${path} → ${made}`;
    }
    case 4: {
      if (paths.length < 6) return "nothing";
      rmSync(join(tree.root, path));
      return `${path} deleted`;
    }
    case 5: {
      const made = `src/new${random(1_000)}.ts`;
      tree.write(
        made,
        `import { withTax } from "../tax.ts";\nexport function more${random(10)}() {\n  return withTax(${random(9)});\n}\n`,
      );
      return `${made} added`;
    }
    default: {
      const known = Object.keys(START);
      const back = known[random(known.length)]!;
      tree.write(back, START[back]!);
      return `${back} as it began`;
    }
  }
}

/** Makes any edit of a text: lines doubled, dropped or moved, a name changed everywhere or in one place. */
function scramble(tree: SourceTree, paths: string[], random: (below: number) => number): string {
  const path = paths[random(paths.length)]!;
  const text = readFileSync(join(tree.root, path), "utf8");
  const lines = text.split("\n");
  const names = [...new Set(text.match(/[A-Za-z_]\w{2,}/g) ?? ["none"])];
  const [at, name, other] = [random(lines.length), names[random(names.length)]!, names[random(names.length)]!];
  const edits: [string, () => string][] = [
    [`line ${at} doubled`, () => lines.toSpliced(at, 0, lines[at]!).join("\n")],
    [`line ${at} dropped`, () => lines.toSpliced(at, 1).join("\n")],
    [`lines around ${at} repeated at the end`, () => [...lines, ...lines.slice(at, at + 12)].join("\n")],
    [`${name} renamed`, () => text.replaceAll(new RegExp(`\\b${name}\\b`, "g"), `${name}X`)],
    [`the first ${name} is ${other}`, () => text.replace(name, other)],
  ];
  const [description, edited] = edits[random(edits.length)]!;
  tree.write(path, edited());
  return `${path}: ${description}`;
}

const seed = Number(process.env["SKEP_SEED"] || Date.now() % 1_000_000);

interface Trial {
  files: Readonly<Record<string, string>>;
  rounds: number;
  edits: readonly (typeof edit)[];
}

/** Those of Skep's own sources that depend on each other the most. */
function ownSources(): Record<string, string> {
  const root = join(import.meta.dir, "../..");
  const paths = (readdirSync(root, { recursive: true }) as string[]).filter(
    (path) => /^(graph|core)\/.*\.ts$/.test(path) && !path.includes("fixtures"),
  );
  return Object.fromEntries(paths.map((path) => [`src/${path}`, readFileSync(join(root, path), "utf8")]));
}

const TRIALS: Record<string, () => Trial> = {
  "made for it": () => ({ files: START, rounds: 12, edits: [edit] }),
  "of real sources": () => ({ files: ownSources(), rounds: 3, edits: [edit, scramble, scramble, scramble] }),
};

for (const [name, make] of Object.entries(TRIALS)) {
  test(`an incremental index equals a full one after random edits, renames and deletions: a repository ${name} (seed ${seed})`, async () => {
    const random = numbers(seed);
    const { files, rounds, edits } = make();
    const tree = createSourceTree(files);
    trees.push(tree);
    const place = { root: tree.root, store: tree.store };
    const grown = createGraphSession(place);
    await grown.index({ force: false });
    // Applies edits to its graph in memory wherever it can.
    const alive = createGraphSession({ ...place, store: `${tree.store}-alive` });
    await alive.index({ force: false });
    searches(alive);
    const history: string[] = [];
    for (let round = 0; round < rounds; round++) {
      for (let n = 0; n <= random(3); n++) {
        const paths = tree.git("ls-files", "-z", "--cached", "--others").split("\0").filter(Boolean);
        const there = paths.filter((path) => existsSync(join(tree.root, path)));
        history.push(edits[random(edits.length)]!(tree, there, random));
      }
      if (random(3) === 0) {
        tree.git("add", "-A");
        tree.git("commit", "-q", "--allow-empty", "-m", "more");
      }
      await grown.index({ force: false });
      const full = createGraphSession({ ...place, store: `${tree.store}-${round}` });
      await full.index({ force: true });
      expect({ seed, history, graph: everything(grown) }).toEqual({ seed, history, graph: everything(full) });
      if (!(await alive.edit(false))) await alive.index({ force: false });
      expect({ seed, history, graph: everything(alive) }).toEqual({ seed, history, graph: everything(full) });
      expect({ seed, history, found: searches(alive) }).toEqual({ seed, history, found: searches(full) });
      if (random(3) === 0) alive.write();
      full.close();
    }
  }, 300_000);
}
