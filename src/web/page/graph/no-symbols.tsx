/** Shown in place of symbols if there is no index yet, or if it found none. */
import { Empty } from "../../ui/note.tsx";

export const NoSymbols = ({ isIndexed }: { isIndexed: boolean }) => (
  <Empty cli="skep graph index .">
    {isIndexed
      ? "The index found no symbols: no file of the repository is in a language that it reads."
      : "There is nothing to see before the first index. It finds the symbols of the code and what calls what."}
  </Empty>
);
