/** Names of members of Go's library. */
import { plainLibrary } from "../library.ts";

export const GO_LIBRARY = plainLibrary(`
  Error String GoString Format Close Read Write ReadFrom WriteTo ReadByte WriteByte ReadString WriteString ReadAll
  Seek Flush Scan Text Bytes Reset Grow Lock Unlock RLock RUnlock Done Wait Deadline Value Load Store Swap Range
  Delete LoadOrStore CompareAndSwap Less Push MarshalJSON UnmarshalJSON MarshalText UnmarshalText Encode Decode
  Header WriteHeader ServeHTTP RoundTrip Unix UnixNano Before After Equal Elem Kind Interface NumField Field Type
  Name Println Printf Print Fatal Fatalf Errorf Logf Helper Cleanup Parallel Unwrap
`);
