import { UsageError } from '../failure.ts';

const bash = String.raw`_adjutant() {
  local value text
  COMPREPLY=()
  while IFS=$'\t' read -r value text; do
    COMPREPLY+=("$value")
  done < <(adjutant complete-words -- "${'$'}{COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _adjutant adjutant
`;

const zsh = String.raw`#compdef adjutant
_adjutant() {
  local value text
  local -a found
  while IFS=$'\t' read -r value text; do
    found+=("${'$'}{value//:/\\:}:$text")
  done < <(adjutant complete-words -- "${'$'}{(@)words[2,CURRENT]}" 2>/dev/null)
  _describe adjutant found || _files
}
if [ "$funcstack[1]" = "_adjutant" ]; then _adjutant "$@"; else compdef _adjutant adjutant; fi
`;

const fish = `function __adjutant_words
  set -l words (commandline -opc) "$(commandline -ct)"
  adjutant complete-words -- $words[2..] 2>/dev/null
end
complete -c adjutant -a '(__adjutant_words)'
`;

const powershell = `Register-ArgumentCompleter -Native -CommandName adjutant -ScriptBlock {
  param($word, $ast, $cursor)
  $words = @($ast.CommandElements | Select-Object -Skip 1 | ForEach-Object { $_.ToString() })
  if ($word -eq '') { $words += '' }
  adjutant complete-words -- @words 2>$null | ForEach-Object {
    $value, $text = $_ -split "\`t", 2
    if (-not $text) { $text = $value }
    [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $text)
  }
}
`;

const scripts: Readonly<Record<string, string>> = { bash, zsh, fish, powershell };

/** Names of the shells that there are scripts for. */
export const shells: readonly string[] = Object.keys(scripts);

/** Returns the script that completes commands in a shell. @throws UsageError */
export function completionScript(shell: string): string {
  const script = Object.hasOwn(scripts, shell) ? scripts[shell] : undefined;
  if (script !== undefined) return script;
  throw new UsageError({
    reason: `There is no completion for ${shell}. Name one of ${shells.join(', ')}.`,
  });
}
