import { fileURLToPath } from 'node:url';

/** Paths that people drag into a terminal at once, at most. */
const mostPaths = 20;
const part = /'([^'\n]*)'|"((?:[^"\\\n]|\\.)*)"|((?:[^\s'"\\]|\\.)+)/gy;

/**
 * Returns the paths of which alone a pasted text consists: bare, quoted, with `\` before blanks, or
 * as `file:` addresses, as terminals write dragged files. `undefined`: it is another text. The
 * caller checks that the files exist.
 */
export function pastedPaths(text: string): readonly string[] | undefined {
  const whole = text.trim();
  const paths: string[] = [];
  let at = 0;
  while (at < whole.length) {
    part.lastIndex = at;
    const match = part.exec(whole);
    if (match === null || paths.length === mostPaths) return undefined;
    const [, single, double, bare] = match;
    const path = pathOf(single ?? withoutBackslashes(double ?? bare ?? ''));
    if (path === undefined) return undefined;
    paths.push(path);
    at = part.lastIndex;
    const blanks = /^\s*/.exec(whole.slice(at))?.[0].length ?? 0;
    if (blanks === 0 && at < whole.length) return undefined;
    at += blanks;
  }
  return paths.length === 0 ? undefined : paths;
}

/** Backslashes part the folders of Windows, and quote blanks elsewhere. */
function withoutBackslashes(text: string): string {
  return /^[a-z]:\\/i.test(text) ? text : text.replace(/\\(.)/g, '$1');
}

function pathOf(text: string): string | undefined {
  if (!text.startsWith('file:')) return /[/\\.]/.test(text) ? text : undefined;
  try {
    return fileURLToPath(text);
  } catch {
    return undefined;
  }
}
