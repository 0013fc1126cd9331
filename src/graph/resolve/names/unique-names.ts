/**
 * The last resort: a name that exists once in the repository. Only for calls of unknown receivers, only within
 * compatible languages, and never for names that libraries use everywhere.
 */

import { SymbolFlag } from "../../language/fact-layout.ts";
import { wordSet } from "../../language/library.ts";
import { SYMBOL_LABELS } from "../../model.ts";
import { exists, isNone, rowAfter } from "../../rows.ts";
import { isTestPath } from "../../test-paths.ts";
import type { Target } from "../calls/targets.ts";
import { isReference, type Repository } from "../repository.ts";

const SEVERAL = -2;
/** Of more methods of a name than this, none is worth naming. */
const MAX_CANDIDATES = 5;
const MIN_LENGTH = 4;
const METHOD = SYMBOL_LABELS.indexOf("Method");
const FUNCTION = SYMBOL_LABELS.indexOf("Function");

export class UniqueNames {
  private readonly repo: Repository;
  /** The only method of a name, or SEVERAL. */
  private readonly methods = new Map<string, number>();
  /** All methods of a name, up to one more than are worth naming. */
  private readonly methodsNamed = new Map<string, number[]>();
  /** The only function of a name at the top of a file, or SEVERAL. */
  private readonly functions = new Map<string, number>();
  /** Names of members that are no methods. */
  private readonly members = new Map<string, number>();

  constructor(repo: Repository) {
    this.repo = repo;
    for (let file = 0; file < repo.files.length; file++) {
      const { symbols, strings } = repo.facts(file);
      const base = repo.base[file]!;
      for (let row = symbols.first; row < symbols.length; row = rowAfter(row)) {
        const label = symbols.label(row);
        const flags = symbols.flags(row);
        const name = strings[symbols.name(row)]!;
        if (name === "" || flags & SymbolFlag.Hidden || isReference(label)) continue;
        if (label === METHOD) {
          this.add(this.methods, name, base + row);
          const known = this.methodsNamed.get(name);
          if (!known) this.methodsNamed.set(name, [base + row]);
          else if (known.length <= MAX_CANDIDATES) known.push(base + row);
        } else if (label === FUNCTION && isNone(symbols.parent(row)) && !(flags & SymbolFlag.FileLocal)) {
          // A macro is only visible through an include, and those calls are resolved already.
          if (exists(symbols.inner(row))) this.add(this.functions, name, base + row);
        }
        if (label !== METHOD && exists(symbols.parent(row))) this.members.set(name, SEVERAL);
      }
    }
  }

  private add(map: Map<string, number>, name: string, symbol: number): void {
    map.set(name, map.has(name) ? SEVERAL : symbol);
  }

  private accept(map: Map<string, number>, file: number, name: string): Target[] {
    const { repo } = this;
    const symbol = map.get(name);
    if (symbol === undefined || symbol === SEVERAL || name.length < MIN_LENGTH) return [];
    const owner = repo.fileOf(symbol);
    if (!repo.rules(file).compatible.includes(repo.files[owner]!.language.id)) return [];
    if (isTestPath(repo.files[owner]!.path) && !isTestPath(repo.files[file]!.path)) return [];
    return [{ symbol, reason: "unique_name" }];
  }

  private isCommon(file: number, name: string): boolean {
    const { library, rules } = this.repo.language(file);
    return COMMON.has(name) || library.commonMembers.has(name) || rules.specialMembers?.test(name) === true;
  }

  /** A plain name that no scope or import explains. */
  findFunction(file: number, name: string): Target[] {
    // In languages where modules declare every name, an undeclared name belongs to the runtime.
    return this.repo.rules(file).guessNames ? this.accept(this.functions, file, name) : [];
  }

  /** A member of a receiver of which nothing is known. */
  findMethod(file: number, name: string): Target[] {
    return this.isCommon(file, name) || this.members.has(name) ? [] : this.accept(this.methods, file, name);
  }

  /** The few methods that a member of such a receiver may be, where there is more than one. */
  findCandidates(file: number, name: string): readonly number[] {
    const { repo } = this;
    const found = this.methodsNamed.get(name) ?? [];
    if (found.length < 2 || found.length > MAX_CANDIDATES || name.length < MIN_LENGTH || this.isCommon(file, name))
      return [];
    const { compatible } = repo.rules(file);
    const isTest = isTestPath(repo.files[file]!.path);
    return found.filter((symbol) => {
      const { language, path } = repo.files[repo.fileOf(symbol)]!;
      return compatible.includes(language.id) && (isTest || !isTestPath(path));
    });
  }
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
