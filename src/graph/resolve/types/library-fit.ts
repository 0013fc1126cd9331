/**
 * How well a value of a library's type fits a parameter of one: -1 not at all, 0 perhaps, more the nearer it is. What a
 * language converts by itself is nearer than what it boxes, and anything is an object.
 */

const EXACT = 10;

/** Numbers in the order in which one becomes the next by itself. */
const NUMBERS = ["byte", "short", "int", "long", "float", "double"];

/** Boxes of Java's plain values. */
const BOXES: Readonly<Record<string, string>> = {
  Byte: "byte",
  Short: "short",
  Integer: "int",
  Long: "long",
  Float: "float",
  Double: "double",
  Boolean: "bool",
  Character: "char",
};

/** What values of the languages' own types are besides, as far as parameters are declared so. */
const ALSO: Readonly<Record<string, ReadonlySet<string>>> = {
  string: new Set(["CharSequence", "Comparable", "Serializable", "Constable"]),
  Class: new Set(["Type", "Serializable", "AnnotatedElement", "GenericDeclaration"]),
  Array: new Set(["Serializable", "Cloneable", "Iterable", "IEnumerable", "ICollection"]),
};

/** Containers that no value is two of. */
const CONTAINERS = new Set(["Array", "List", "Map"]);

/** Values without members: numbers, truth values, characters. */
export function isScalar(name: string): boolean {
  return /^(u?int(8|16|32|64)?(_t)?|[su]?byte|u?short|u?long|float|double|char|bool|boolean|size_t|decimal|number|nint|wchar_t)$/.test(
    name,
  );
}

function isFloat(name: string): boolean {
  return name === "float" || name === "double" || name === "decimal";
}

function isObject(name: string): boolean {
  return name === "Object" || name === "object";
}

/** Whether nothing but its own values fits a type of the library. */
export function isClosed(name: string): boolean {
  return isScalar(name) || name === "string" || name === "Class" || Object.hasOwn(BOXES, name);
}

/** `loose`: numbers become any other number, as in C. */
export function libraryFit(given: string, wanted: string, loose: boolean): number {
  if (wanted === given) return EXACT;
  if (wanted === "pointer" || given === "pointer") return 0;
  if (given === "null") return isScalar(wanted) ? -1 : isObject(wanted) ? 0 : 1;
  if (isObject(wanted)) return 1;
  if (CONTAINERS.has(given) && CONTAINERS.has(wanted)) return -1;
  const plain = BOXES[given] ?? given;
  if (isScalar(plain)) return scalarFit(plain, wanted, loose) - (plain === given ? 0 : 1);
  if (ALSO[given]?.has(wanted)) return 5;
  return isClosed(wanted) || (isClosed(given) && !/^I[A-Z]/.test(wanted)) ? -1 : 0;
}

function scalarFit(given: string, wanted: string, loose: boolean): number {
  if (isScalar(wanted)) {
    if (wanted === given) return EXACT - 2;
    if (wanted === "bool" || given === "bool") return -1;
    if (loose) return isFloat(wanted) === isFloat(given) ? 1 : 0;
    const from = given === "char" ? 1 : NUMBERS.indexOf(given);
    const to = NUMBERS.indexOf(wanted);
    if (from < 0 || to < 0) return isFloat(wanted) === isFloat(given) ? 1 : 0;
    return to > from ? EXACT - 1 - (to - from) : -1;
  }
  if (BOXES[wanted] === given) return 4;
  if (Object.hasOwn(BOXES, wanted)) return -1;
  if (wanted === "Number" && given !== "char" && given !== "bool") return 3;
  if (wanted === "Comparable" || wanted === "Serializable") return 2;
  return /^I[A-Z]/.test(wanted) && !loose ? 0 : -1;
}
