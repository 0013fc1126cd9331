/** `skep completion bash|zsh|fish`: a script for the shell that asks `skep complete` what may come next. */
import { Argument, type Command } from "commander";
import { type Candidates, complete } from "./complete.ts";

export function completionCommand(program: Command): void {
  program
    .command("completion")
    .description("print the completion script of a shell, e.g.: source <(skep completion bash)")
    .addArgument(new Argument("<shell>", "shell that is to complete commands").choices(Object.keys(COMPLETIONS)))
    .action((shell: keyof typeof COMPLETIONS) => console.log(COMPLETIONS[shell]));
  program
    .command("complete", { hidden: true })
    .description("print what may come next, one per line with a tab before its description; for shells")
    .argument("[words...]", "all words after the program's name; the last one is being typed")
    .action(async (words: string[]) => {
      const lines = linesOf(await complete(program, words));
      if (lines.length > 0) console.log(lines.join("\n"));
      // A server that does not answer must not hold the shell up.
      process.exit(0);
    });
}

const linesOf = (found: Candidates): string[] =>
  typeof found === "string" ? [`:${found}`] : found.map(({ word, about }) => `${word}\t${about}`);

export const COMPLETIONS = {
  bash: `# bash completion of skep; load it with: source <(skep completion bash)
_skep() {
  local cur=\${COMP_WORDS[COMP_CWORD]} word
  COMPREPLY=()
  while IFS=$'\\t' read -r word _; do
    case $word in
      :files) compopt -o filenames 2>/dev/null; COMPREPLY+=($(compgen -f -- "$cur")) ;;
      :folders) compopt -o filenames 2>/dev/null; COMPREPLY+=($(compgen -d -- "$cur")) ;;
      *) COMPREPLY+=("$word") ;;
    esac
  done < <("\${COMP_WORDS[0]}" complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _skep skep`,
  zsh: `#compdef skep
# zsh completion of skep; keep it as _skep in a folder of $fpath, or: source <(skep completion zsh)
_skep() {
  local -a found
  local word about
  while IFS=$'\\t' read -r word about; do
    case $word in
      :files) _files ;;
      :folders) _files -/ ;;
      *) found+=("\${word//:/\\\\:}:$about") ;;
    esac
  done < <("\${words[1]}" complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  (( $#found )) && _describe skep found
}
if [[ $funcstack[1] == _skep ]]; then _skep "$@"; else compdef _skep skep; fi`,
  fish: `# fish completion of skep; keep it as ~/.config/fish/completions/skep.fish, or: skep completion fish | source
function __skep
    set -l words (commandline -opc)
    set -l typed (commandline -ct)
    for line in ($words[1] complete -- $words[2..] "$typed" 2>/dev/null)
        switch $line
            case ':files'
                __fish_complete_path "$typed"
            case ':folders'
                __fish_complete_directories "$typed"
            case '*'
                echo $line
        end
    end
end
complete -c skep -f -a '(__skep)'`,
} as const;
