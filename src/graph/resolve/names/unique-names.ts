/**
 * The last resort: a name that exists once in the repository. Only for calls of unknown receivers, only within
 * compatible languages, and never for names that libraries use everywhere.
 */

import { SymbolFlag } from "../../language/fact-layout.ts";
import type { FileFacts } from "../../language/facts.ts";
import { wordSet } from "../../language/library.ts";
import { SYMBOL_LABELS } from "../../model.ts";
import { exists, isNone, rowAfter } from "../../rows.ts";
import { isTestPath } from "../../test-paths.ts";
import type { Target } from "../calls/targets.ts";
import { isReference, type Repository } from "../repository.ts";

/** Of more methods of a name than this, none is worth naming. */
const MAX_CANDIDATES = 5;
const MIN_LENGTH = 4;
const METHOD = SYMBOL_LABELS.indexOf("Method");
const FUNCTION = SYMBOL_LABELS.indexOf("Function");

/** Symbols by name: the file and the row of each, one after the other, in their order. */
type Places = Map<string, number[]>;

interface Declared {
  /** The files that it was read from, by their rows. */
  files: FileFacts[];
  methods: Places;
  functions: Places;
  /** How many other things stand in a symbol under a name. */
  members: Map<string, number>;
}

export class UniqueNames {
  private readonly repo: Repository;
  private readonly declared: Declared;

  /** @param edited the same of the repository before an edit of some files, whose list is as it was; not to be asked any more */
  constructor(repo: Repository, edited?: { before: UniqueNames; changed: readonly number[] }) {
    this.repo = repo;
    this.declared = edited?.before.declared ?? {
      files: [],
      methods: new Map(),
      functions: new Map(),
      members: new Map(),
    };
    const { declared } = this;
    for (const file of edited?.changed ?? repo.files.keys()) {
      const before = declared.files[file];
      if (before) eachDeclared(before, (where, name, row) => removeName(declared, where, name, file, row));
      const facts = repo.facts(file);
      declared.files[file] = facts;
      eachDeclared(facts, (where, name, row) => addName(declared, where, name, file, row));
    }
  }

  /** A plain name that no scope or import explains. */
  findFunction(file: number, name: string): Target[] {
    // In languages where modules declare every name, an undeclared name belongs to the runtime.
    return this.repo.rules(file).guessNames ? this.accept(this.declared.functions, file, name) : [];
  }

  /** A member of a receiver of which nothing is known. */
  findMethod(file: number, name: string): Target[] {
    return this.isCommon(file, name) || this.declared.members.has(name)
      ? []
      : this.accept(this.declared.methods, file, name);
  }

  /** The few methods that a member of such a receiver may be, where there is more than one. */
  findCandidates(file: number, name: string): readonly number[] {
    const places = this.declared.methods.get(name) ?? [];
    const count = places.length / 2;
    if (count < 2 || count > MAX_CANDIDATES || name.length < MIN_LENGTH || this.isCommon(file, name)) return [];
    const { compatible } = this.repo.rules(file);
    const isTest = isTestPath(this.repo.pathOf(file));
    return this.symbolsAt(places).filter((symbol) => {
      const { language, path } = this.repo.files[this.repo.fileOf(symbol)]!;
      return compatible.includes(language.id) && (isTest || !isTestPath(path));
    });
  }

  private symbolsAt(places: readonly number[]): number[] {
    const symbols: number[] = [];
    for (let at = 0; at < places.length; at += 2) symbols.push(this.repo.base[places[at]!]! + places[at + 1]!);
    return symbols;
  }

  private accept(all: Places, file: number, name: string): Target[] {
    const places = all.get(name);
    if (places?.length !== 2 || name.length < MIN_LENGTH) return [];
    const [symbol] = this.symbolsAt(places);
    const owner = this.repo.files[places[0]!]!;
    if (symbol === undefined || !this.repo.rules(file).compatible.includes(owner.language.id)) return [];
    if (isTestPath(owner.path) && !isTestPath(this.repo.pathOf(file))) return [];
    return [{ symbol, reason: "unique_name" }];
  }

  private isCommon(file: number, name: string): boolean {
    const { library, rules } = this.repo.language(file);
    return COMMON.has(name) || library.commonMembers.has(name) || rules.specialMembers?.test(name) === true;
  }
}

type Where = "methods" | "functions" | "members";

/** Tells the names that a file declares and how. */
function eachDeclared({ symbols, strings }: FileFacts, tell: (where: Where, name: string, row: number) => void): void {
  for (let row = symbols.first; row < symbols.length; row = rowAfter(row)) {
    const label = symbols.label(row);
    const flags = symbols.flags(row);
    const name = strings[symbols.name(row)]!;
    if (name === "" || flags & SymbolFlag.Hidden || isReference(label)) continue;
    if (label === METHOD) {
      tell("methods", name, row);
      continue;
    }
    const isOuter = isNone(symbols.parent(row));
    // A macro is only visible through an include, and those calls are resolved already.
    if (label === FUNCTION && isOuter && !(flags & SymbolFlag.FileLocal) && exists(symbols.inner(row)))
      tell("functions", name, row);
    if (!isOuter) tell("members", name, row);
  }
}

function addName(declared: Declared, where: Where, name: string, file: number, row: number): void {
  if (where === "members") {
    declared.members.set(name, (declared.members.get(name) ?? 0) + 1);
    return;
  }
  const places = declared[where].get(name);
  if (!places) {
    declared[where].set(name, [file, row]);
    return;
  }
  let at = places.length;
  while (at > 0 && (places[at - 2]! > file || (places[at - 2] === file && places[at - 1]! > row))) at -= 2;
  if (at === places.length) places.push(file, row);
  else places.splice(at, 0, file, row);
}

function removeName(declared: Declared, where: Where, name: string, file: number, row: number): void {
  if (where === "members") {
    const left = (declared.members.get(name) ?? 0) - 1;
    if (left > 0) declared.members.set(name, left);
    else declared.members.delete(name);
    return;
  }
  const places = declared[where].get(name) ?? [];
  for (let at = 0; at < places.length; at += 2)
    if (places[at] === file && places[at + 1] === row) {
      places.splice(at, 2);
      break;
    }
  if (places.length === 0) declared[where].delete(name);
}

/** Names of members that the libraries of every language have: too common to identify anything. */
const COMMON = wordSet(`
  emit on once off write read close open send end destroy pipe log error warn info debug parse stringify json text
  format start stop run next done return throw abort append remove update insert items values get set put post
  patch head options connect listen bind call query select execute fetch commit rollback apply assign clear concat
  contains copy count difference every exec fill filter find flat flush global includes intersection join keys
  length link map match merge name peek pop push random reduce release repeat replace reset reverse round search
  seek shift sign size slice small some sort source splice split test then trim union valueOf wait with seal
`);
