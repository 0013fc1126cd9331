import type { ValueType } from "./value-type.ts";

/** With more, they are found by an index: what a stranger's code binds has no bound. */
const MANY = 16;

/**
 * Types of type parameters, whose ids are numbered over the repository, in the order in which they were bound. Most are one
 * to three, and a repository has tens of thousands of such lists: a map of each takes three times the memory.
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

  /** Less than 0 for one that is not bound. */
  private placeOf(id: number): number {
    return this.places ? (this.places.get(id) ?? -1) : this.ids.indexOf(id);
  }
}
