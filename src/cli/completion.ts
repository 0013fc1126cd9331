/** `skep completion bash|zsh|fish`: a script for the shell, written from the commands themselves, so that it never lags behind. */
import { Argument, type Command } from "commander";

interface Word {
  word: string;
  about: string;
  /** What follows the flag, when something does. */
  value?: { choices: readonly string[]; kind: "folder" | "file" | "text" };
}

/** A place in the command line, e.g. `image load`, and what may stand there. */
interface Place {
  path: string;
  /** Commands, and what an argument may be. */
  commands: Word[];
  flags: Word[];
  /** Whether its own arguments are files. */
  files: boolean;
}

export function completionCommand(program: Command): void {
  program
    .command("completion")
    .description("print the completion script of a shell, e.g.: source <(skep completion bash)")
    .addArgument(new Argument("<shell>").choices(["bash", "zsh", "fish"]))
    .action((shell: string) => {
      const places = placesOf(program);
      console.log(shell === "bash" ? bash(places) : shell === "zsh" ? zsh(places) : fish(places));
    });
}

function placesOf(command: Command, path = ""): Place[] {
  const here: Place = {
    path,
    commands: [
      ...command.commands.map((one) => ({ word: one.name(), about: one.description() })),
      ...command.registeredArguments.flatMap((argument) =>
        (argument.argChoices ?? []).map((word) => ({ word, about: argument.description })),
      ),
    ],
    flags: [...command.options, ...command.createHelp().visibleOptions(command)]
      .filter((option, at, all) => option.long && all.findIndex(({ long }) => long === option.long) === at)
      .map(({ long, description, required, optional, flags, argChoices }) => ({
        word: long!,
        about: description,
        ...(required || optional
          ? {
              value: {
                choices: argChoices ?? [],
                kind: /<dir>/.test(flags) || long === "--data" ? "folder" : /<file>/.test(flags) ? "file" : "text",
              } as const,
            }
          : {}),
      })),
    files: command.registeredArguments.some((argument) => argument.name() === "file"),
  };
  const below = command.commands.flatMap((one) => placesOf(one, `${path} ${one.name()}`.trim()));
  return [here, ...below];
}

/** A word in single quotes for a POSIX shell, and for fish. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
const words = (list: readonly Word[]): string => list.map(({ word }) => word).join(" ");

/** The walk over what stands before the cursor: flags' values are passed over, so that they are not taken for commands. */
const walk = (places: readonly Place[], list: string, last: string): string => {
  const valued = new Set(places.flatMap(({ flags }) => flags.filter(({ value }) => value).map(({ word }) => word)));
  const paths = places.filter(({ path }) => path !== "").map(({ path }) => quoted(path));
  return `  local at='' skip='' word
  for word in ${list}; do
    if [[ -n $skip ]]; then skip=''; continue; fi
    case $word in
      ${[...valued].join("|")}) skip=$word ;;
      -*) ;;
      *) case "\${at:+$at }$word" in ${paths.join("|")}) at="\${at:+$at }$word" ;; esac ;;
    esac
  done
  ${last}`;
};

function bash(places: readonly Place[]): string {
  const cases = places.map(({ path, commands, flags, files }) => {
    const values = flags.flatMap(({ word, value }) =>
      value
        ? `      ${word}) ${value.kind === "text" ? `COMPREPLY=($(compgen -W ${quoted(value.choices.join(" "))} -- "$cur"))` : `COMPREPLY=($(compgen ${value.kind === "folder" ? "-d" : "-f"} -- "$cur"))`}; return ;;`
        : [],
    );
    return `    ${quoted(path)}) case $skip in
${values.join("\n")}
      esac
      if [[ $cur == -* ]]; then COMPREPLY=($(compgen -W ${quoted(words(flags))} -- "$cur"))
      else COMPREPLY=($(compgen ${files ? "-f " : ""}-W ${quoted(words(commands))} -- "$cur")); fi ;;`;
  });
  return `# bash completion of skep; load it with: source <(skep completion bash)
_skep() {
  local cur=\${COMP_WORDS[COMP_CWORD]}
${walk(places, `"\${COMP_WORDS[@]:1:COMP_CWORD-1}"`, "COMPREPLY=()")}
  case $at in
${cases.join("\n")}
  esac
}
complete -o filenames -F _skep skep`;
}

function zsh(places: readonly Place[]): string {
  const described = (list: readonly Word[]) =>
    list.map(({ word, about }) => quoted(`${word.replaceAll(":", "\\:")}:${about.replaceAll(":", "\\:")}`)).join(" ");
  const cases = places.map(({ path, commands, flags, files }) => {
    const values = flags.flatMap(({ word, value }) =>
      value
        ? `      ${word}) ${value.kind === "text" ? `compadd -- ${value.choices.join(" ")}` : `_files${value.kind === "folder" ? " -/" : ""}`}; return ;;`
        : [],
    );
    return `    ${quoted(path)}) case $skip in
${values.join("\n")}
      esac
      flags=(${described(flags)}); commands=(${described(commands)})
      if [[ $PREFIX == -* ]]; then _describe flag flags; else _describe command commands${files ? "; _files" : ""}; fi ;;`;
  });
  return `#compdef skep
# zsh completion of skep; keep it as _skep in a folder of $fpath, or: source <(skep completion zsh)
_skep() {
  local -a flags commands
${walk(places, `"\${(@)words[2,CURRENT-1]}"`, ":")}
  case $at in
${cases.join("\n")}
  esac
}
if [[ $funcstack[1] == _skep ]]; then _skep "$@"; else compdef _skep skep; fi`;
}

function fish(places: readonly Place[]): string {
  const text = (value: string) => `'${value.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
  const lines = places.flatMap(({ path, commands, flags, files }) => {
    const here = `complete -c skep -n ${text(`__skep_at ${text(path)}`)}`;
    return [
      ...commands.map(({ word, about }) => `${here} -a ${word} -d ${text(about)}`),
      ...flags.map(({ word, about, value }) => {
        const takes = !value
          ? ""
          : value.kind === "folder"
            ? " -x -a '(__fish_complete_directories)'"
            : value.kind === "file"
              ? " -rF"
              : ` -x${value.choices.length > 0 ? ` -a ${text(value.choices.join(" "))}` : ""}`;
        return `${here} -l ${word.slice(2)}${takes} -d ${text(about)}`;
      }),
      ...(files ? [`${here} -F`] : []),
    ];
  });
  const paths = places.filter(({ path }) => path !== "").map(({ path }) => text(path));
  return `# fish completion of skep; keep it as ~/.config/fish/completions/skep.fish, or: skep completion fish | source
function __skep_at
    set -l at ''
    for word in (commandline -opc)[2..]
        set -l next (string trim "$at $word")
        contains -- $next ${paths.join(" ")}; and set at $next
    end
    test "$at" = "$argv[1]"
end
complete -c skep -f
${lines.join("\n")}`;
}
