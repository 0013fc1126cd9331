import type { ValueType } from "./value-type.ts";

/** From this size on, an index finds the ids. Source code that is not trusted can bind any number of them. */
const MANY = 16;

/**
 * The types that are bound to type parameters, in the order in which they were bound. Ids of type parameters are unique
 * in the repository. Most lists have one to three entries, and a repository has tens of thousands of lists: a map for
 * each would take three times the memory.
 */
export class TypeBindings {
  private readonly ids: number[] = [];
  private readonly types: ValueType[] = [];
  private places: Map<number, number> | undefined;

  get size(): number {
    return this.ids.length;
  }

  get(id: number): ValueType | undefined {
    const place = this.placeOf(id);
    return place < 0 ? undefined : this.types[place];
  }

  has(id: number): boolean {
    return this.placeOf(id) >= 0;
  }

  bindType(id: number, type: ValueType): void {
    const place = this.placeOf(id);
    if (place >= 0) {
      this.types[place] = type;
      return;
    }
    this.types.push(type);
    this.places?.set(id, this.ids.length);
    this.ids.push(id);
    if (this.ids.length === MANY) this.places = new Map(this.ids.map((one, place) => [one, place]));
  }

  copy(): TypeBindings {
    const copy = new TypeBindings();
    copy.ids.push(...this.ids);
    copy.types.push(...this.types);
    if (this.places) copy.places = new Map(this.places);
    return copy;
  }

  forEach(see: (type: ValueType, id: number) => void): void {
    for (let place = 0; place < this.ids.length; place++) see(this.types[place]!, this.ids[place]!);
  }

  values(): readonly ValueType[] {
    return this.types;
  }

  /** The index of a bound id; negative if the id is not bound. */
  private placeOf(id: number): number {
    return this.places ? (this.places.get(id) ?? -1) : this.ids.indexOf(id);
  }
}
