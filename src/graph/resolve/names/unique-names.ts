/**
 * The last resort: a name that exists only once in the repository. It is used for calls on unknown receivers, between
 * compatible languages, and never for names that are common in libraries.
 */

import { SymbolFlag } from "../../language/fact-layout.ts";
import { wordSet } from "../../language/library.ts";
import { exists, isNone } from "../../rows.ts";
import { isTestPath } from "../../test-paths.ts";
import type { Target } from "../calls/targets.ts";
import type { Repository } from "../repository.ts";
import type { NamedSymbol, SymbolsNamed } from "./symbols-named.ts";

/** If more methods than this share a name, none of them is reported. */
const MAX_CANDIDATES = 5;
const MIN_LENGTH = 4;

export class UniqueNames {
  /** Found symbols by name, for each of the three questions. */
  private readonly methods = new Map<string, readonly NamedSymbol[]>();
  private readonly functions = new Map<string, NamedSymbol | undefined>();
  private readonly members = new Map<string, boolean>();

  constructor(
    private readonly repo: Repository,
    private readonly named: SymbolsNamed,
  ) {}

  /** The only function with a plain name that no scope or import explains. */
  findFunction(file: number, name: string): Target[] {
    // In languages where modules declare every name, an undeclared name belongs to the runtime.
    if (!this.repo.rules(file).guessNames || name.length < MIN_LENGTH) return [];
    return this.accept(this.onlyFunction(name), file);
  }

  /** The only method with a name, for a call on a receiver of which nothing is known. */
  findMethod(file: number, name: string): Target[] {
    if (name.length < MIN_LENGTH || this.isCommon(file, name)) return [];
    const [method, another] = this.methodsNamed(name);
    return !method || another || this.isMember(name) ? [] : this.accept(method, file);
  }

  /** The methods with a name, if there are several but only a few, for a call on an unknown receiver. */
  findCandidates(file: number, name: string): readonly number[] {
    if (name.length < MIN_LENGTH || this.isCommon(file, name)) return [];
    const methods = this.methodsNamed(name);
    if (methods.length < 2 || methods.length > MAX_CANDIDATES) return [];
    const { compatible } = this.repo.rules(file);
    const isTest = isTestPath(this.repo.pathOf(file));
    const fitting = methods.filter((method) => {
      const { language, path } = this.repo.files[method.file]!;
      return compatible.includes(language.id) && (isTest || !isTestPath(path));
    });
    return fitting.map((method) => this.symbolOf(method));
  }

  private methodsNamed(name: string): readonly NamedSymbol[] {
    let found = this.methods.get(name);
    if (!found) {
      found = this.named(name).filter(({ label }) => label === "Method");
      this.methods.set(name, found);
    }
    return found;
  }

  /** The only function with a name that is not declared inside another symbol. */
  private onlyFunction(name: string): NamedSymbol | undefined {
    if (this.functions.has(name)) return this.functions.get(name);
    let found: NamedSymbol | undefined;
    for (const one of this.named(name)) {
      if (one.label !== "Function" || !this.isCallable(one)) continue;
      if (found) {
        found = undefined;
        break;
      }
      found = one;
    }
    this.functions.set(name, found);
    return found;
  }

  private isCallable({ file, findRow }: NamedSymbol): boolean {
    const { symbols } = this.repo.facts(file);
    const row = findRow();
    // A macro is visible only through an include, and calls of it are resolved already.
    return isNone(symbols.parent(row)) && !(symbols.flags(row) & SymbolFlag.FileLocal) && exists(symbols.inner(row));
  }

  /** Whether a name belongs to a member other than a method. */
  private isMember(name: string): boolean {
    let found = this.members.get(name);
    if (found === undefined) {
      found = this.named(name).some(
        ({ file, label, findRow }) => label !== "Method" && exists(this.repo.facts(file).symbols.parent(findRow())),
      );
      this.members.set(name, found);
    }
    return found;
  }

  private symbolOf({ file, findRow }: NamedSymbol): number {
    return this.repo.symbolAt(file, findRow());
  }

  private accept(found: NamedSymbol | undefined, file: number): Target[] {
    const owner = found && this.repo.files[found.file];
    if (!owner || !this.repo.rules(file).compatible.includes(owner.language.id)) return [];
    if (isTestPath(owner.path) && !isTestPath(this.repo.pathOf(file))) return [];
    return [{ symbol: this.symbolOf(found), reason: "unique_name" }];
  }

  private isCommon(file: number, name: string): boolean {
    const { library, rules } = this.repo.language(file);
    return COMMON.has(name) || library.commonMembers.has(name) || rules.specialMembers?.test(name) === true;
  }
}

/** Names of members that libraries of every language have. They are too common to identify anything. */
const COMMON = wordSet(`
  emit on once off write read close open send end destroy pipe log error warn info debug parse stringify json text
  format start stop run next done return throw abort append remove update insert items values get set put post
  patch head options connect listen bind call query select execute fetch commit rollback apply assign clear concat
  contains copy count difference every exec fill filter find flat flush global includes intersection join keys
  length link map match merge name peek pop push random reduce release repeat replace reset reverse round search
  seek shift sign size slice small some sort source splice split test then trim union valueOf wait with seal
`);
