/** Python's library: its containers, and the names of its members. */
import { type LanguageLibrary, wordSet, wordTable } from "../library.ts";

/** Members of strings, bytes, lists, dictionaries, sets, files, paths, dates, regular expressions and threads. */
const COMMON_MEMBERS = `
  capitalize casefold center encode decode endswith expandtabs format_map index isalnum isalpha isascii isdecimal
  isdigit isidentifier islower isnumeric isprintable isspace istitle isupper ljust lower lstrip maketrans partition
  removeprefix removesuffix rfind rindex rjust rpartition rsplit rstrip splitlines startswith strip swapcase title
  translate upper zfill extend setdefault popitem fromkeys discard isdisjoint issubset issuperset
  symmetric_difference appendleft popleft rotate most_common elements readline readlines writelines tell truncate
  seekable fileno isatty exists is_file is_dir iterdir glob mkdir unlink rename resolve joinpath read_text
  write_text read_bytes write_bytes with_suffix with_name stem suffix parent isoformat strftime strptime
  total_seconds timestamp weekday today utcnow astimezone fullmatch findall finditer group groups groupdict sub
  subn span acquire notify is_set cancel result exception add_done_callback warning critical getvalue hexdigest
  digest total_ordering sticky
`;

export const PYTHON_LIBRARY: LanguageLibrary = {
  types: wordTable({
    first: "Optional Final ClassVar Annotated Required NotRequired",
    union: "Union",
    class: "Type type",
    sequence:
      "list List set frozenset deque tuple Tuple Sequence Collection Deque FrozenSet Iterable Iterator Generator",
    dictionary: "dict Dict Mapping MutableMapping defaultdict OrderedDict",
    promise: "Awaitable Future Task",
  }),
  methods: {
    sequence: wordTable({
      same: "copy union intersection difference",
      element: "pop popleft",
    }),
    map: wordTable({
      value: "get pop setdefault",
      values: "values",
      keys: "keys",
      entries: "items",
      receiver: "copy",
    }),
    promise: new Map(),
  },
  stringLists: wordSet("split"),
  statics: new Map(),
  commonMembers: wordSet(COMMON_MEMBERS),
};
