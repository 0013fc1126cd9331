/** Names of common members in Go's library. */
import { plainLibrary, wordSet } from "../library.ts";

export const GO_LIBRARY = plainLibrary(`
  Error String GoString Format Close Read Write ReadFrom WriteTo ReadByte WriteByte ReadString WriteString ReadAll
  Seek Flush Scan Text Bytes Reset Grow Lock Unlock RLock RUnlock Done Wait Deadline Value Load Store Swap Range
  Delete LoadOrStore CompareAndSwap Less Push MarshalJSON UnmarshalJSON MarshalText UnmarshalText Encode Decode
  Header WriteHeader ServeHTTP RoundTrip Unix UnixNano Before After Equal Elem Kind Interface NumField Field Type
  Name Println Printf Print Fatal Fatalf Errorf Logf Helper Cleanup Parallel Unwrap
`);

const IMPLEMENTED = wordSet(`
  String Error GoString Format Unwrap Is As Timeout Read Write Close Seek ReadAt WriteAt ReadFrom WriteTo Len Less
  Swap Push Pop Scan Value MarshalJSON UnmarshalJSON MarshalText UnmarshalText MarshalBinary UnmarshalBinary
  MarshalXML UnmarshalXML MarshalYAML UnmarshalYAML ServeHTTP RoundTrip Header WriteHeader Flush Hijack Open Stat
  Mode ModTime IsDir Sys
`);
/**
 * Methods of library interfaces that programs implement, by name. Names that are too common count only if the type also
 * has a second method, which is the value.
 */
export const GO_LIBRARY_METHODS: ReadonlyMap<string, string> = new Map([
  ...Array.from(IMPLEMENTED, (name) => [name, name] as const),
  ["Set", "String"],
  ["Name", "IsDir"],
  ["Size", "IsDir"],
]);
