import { dirname, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Error of Node for a package that is not installed. */
const missingPackage = /^Cannot find package '([^']+)'/;
/** Files that are not the user's: packages, and the sources of Adjutant in a clone. */
const foreign = /[\\/](?:node_modules|packages[\\/](?:core|cli|server)[\\/]src)[\\/]/;

/** Returns a thrown value as a sentence, with its place in the user's code and what to do. */
export function describeThrown(thrown: unknown, file: string): string {
  if (!(thrown instanceof Error))
    return `it throws ${JSON.stringify(thrown) ?? String(thrown)}, which is not an error.`;
  const place = placeOfThrown(thrown, file);
  const where = place === undefined ? '' : ` (${place})`;
  const text = `${thrown.name}: ${thrown.message.replace(/\.$/, '')}${where}`;
  return `${/[!?]$/.test(text) ? text : `${text}.`} ${advice(thrown)}`;
}

/**
 * Place of a thrown error in the user's code, relative to the folder of the module. `undefined`: it
 * is not known.
 */
export function placeOfThrown(thrown: Error, file: string): string | undefined {
  return thrown instanceof SyntaxError ? syntaxPlace(thrown, file) : framePlace(thrown, file);
}

function advice({ message }: Error): string {
  const [, name] = missingPackage.exec(message) ?? [];
  if (name !== undefined) return `Install it: npm install ${name}`;
  return 'Mend it there, or leave the file out with --no-config.';
}

/** Place of a syntax error, which may be in an imported module. Node begins the stack with it. */
function syntaxPlace({ stack = '' }: SyntaxError, file: string): string | undefined {
  const [first = ''] = stack.split('\n');
  const [, place, number] = /^((?:file:|\/|[A-Za-z]:\\).*):(\d+)$/.exec(first) ?? [];
  if (place === undefined) return undefined;
  const path = pathOf(place);
  const folder = dirname(file);
  return `${path.startsWith(`${folder}${sep}`) ? relative(folder, path) : path}:${number}`;
}

/** Path of a module, of which Node tells the path or the URL. */
function pathOf(place: string): string {
  return place.startsWith('file:') ? fileURLToPath(place.replace(/\?.*$/, '')) : place;
}

/** Place of the first call in the user's own files, relative to the folder of the module. */
function framePlace({ stack = '' }: Error, file: string): string | undefined {
  const folder = dirname(file);
  for (const line of stack.split('\n')) {
    const [, place, number] =
      /((?:file:\/\/)?(?:\/|[A-Za-z]:\\)[^\s()]+?):(\d+):\d+\)?$/.exec(line) ?? [];
    if (place === undefined) continue;
    const path = pathOf(place);
    if (path.startsWith(`${folder}${sep}`) && !foreign.test(path))
      return `${relative(folder, path)}:${number}`;
  }
  return undefined;
}
