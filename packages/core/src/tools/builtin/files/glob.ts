import { ToolFailure } from '../../errors.ts';

/** Checks that a path, relative and with `/`, fits a pattern. */
export type PathMatcher = (path: string) => boolean;

const longestPattern = 200;
const mostAlternatives = 32;

/**
 * Compiles a pattern: `*` and `?` within a name, `**` for any folders, `{csv,txt}` for either.
 * Everything else stands for itself. A pattern without `/` is compared with the file's name alone.
 * Matching takes time in proportion to pattern × path, whatever the pattern: it comes from a model,
 * and Node's own glob (a backtracking regular expression) can be made to run for ever.
 * @throws ToolFailure when the pattern is too long or has too many alternatives
 */
export function pathMatcher(pattern: string): PathMatcher {
  if (pattern.length > longestPattern)
    throw invalidPattern(`it has more than ${longestPattern} characters`);
  const alternatives = expandBraces(pattern).map((alternative) =>
    alternative.replace(/^\.\//, '').split('/'),
  );
  return (path) => {
    const names = path.split('/');
    return alternatives.some((segments) =>
      matches(
        segments.length === 1 ? [...anyFolders, ...segments] : segments,
        names,
        isAnyFolders,
        matchesName,
      ),
    );
  };
}

const anyFolders = ['**'] as const;

function isAnyFolders(segment: string): boolean {
  return segment === '**';
}

function matchesName(segment: string, name: string): boolean {
  return matches(
    [...segment],
    [...name],
    (letter) => letter === '*',
    (letter, given) => letter === '?' || letter === given,
  );
}

/** Matches greedily: only the last star is ever widened. */
function matches(
  pattern: readonly string[],
  input: readonly string[],
  isStar: (part: string) => boolean,
  fits: (part: string, given: string) => boolean,
): boolean {
  let at = 0;
  let star = -1;
  let starEnd = 0;
  let position = 0;
  while (position < input.length) {
    const part = pattern[at];
    if (part !== undefined && isStar(part)) {
      star = at++;
      starEnd = position;
    } else if (part !== undefined && fits(part, input[position] ?? '')) {
      at++;
      position++;
    } else if (star >= 0) {
      at = star + 1;
      position = ++starEnd;
    } else return false;
  }
  return pattern.slice(at).every(isStar);
}

function expandBraces(pattern: string): readonly string[] {
  let expanded = [pattern];
  for (let group = innerGroup(expanded[0]); group !== undefined; group = innerGroup(expanded[0])) {
    expanded = expanded.flatMap(expandFirst);
    if (expanded.length > mostAlternatives)
      throw invalidPattern(`it has more than ${mostAlternatives} alternatives`);
  }
  return expanded;
}

function innerGroup(pattern: string | undefined): RegExpExecArray | undefined {
  return /\{([^{}]*,[^{}]*)\}/.exec(pattern ?? '') ?? undefined;
}

function expandFirst(pattern: string): string[] {
  const group = innerGroup(pattern);
  if (group === undefined) return [pattern];
  const [whole, inside = ''] = group;
  const before = pattern.slice(0, group.index);
  const after = pattern.slice(group.index + whole.length);
  return inside.split(',').map((part) => before + part + after);
}

function invalidPattern(reason: string): ToolFailure {
  return new ToolFailure(`The pattern cannot be used: ${reason}.`, {
    errorType: 'invalid_pattern',
    alternatives: ['Use a simple pattern such as "*.csv" or "reports/**".'],
  });
}
