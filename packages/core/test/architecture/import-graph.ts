import { posix } from 'node:path';
import type { ModuleImport, SourceFile } from './source-file.ts';

/**
 * Returns the path, from the repository root, of the file that a relative import names. `undefined`
 * for a package or a built-in module.
 */
export function relativeTarget(file: string, specifier: string): string | undefined {
  return specifier.startsWith('.') ? posix.join(posix.dirname(file), specifier) : undefined;
}

/**
 * Returns the package of a specifier: `@scope/name` or `name`. `undefined` for relative imports and
 * built-in modules.
 */
export function packageOf(specifier: string): string | undefined {
  if (specifier.startsWith('.') || specifier.startsWith('node:')) return undefined;
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

function runtimeTargets(file: SourceFile): string[] {
  return file.imports.flatMap(({ specifier, kind }) =>
    kind === 'runtime' ? (relativeTarget(file.path, specifier) ?? []) : [],
  );
}

/**
 * Returns groups of files that import one another, over all imports, types and `import()` included.
 * The groups are the strongly connected components, found by the algorithm of Tarjan (1972).
 */
export function importCircles(files: readonly SourceFile[]): readonly (readonly string[])[] {
  const targets = new Map(
    files.map(({ path, imports }) => [
      path,
      imports.flatMap(({ specifier }) => relativeTarget(path, specifier) ?? []),
    ]),
  );
  const indices = new Map<string, number>();
  const open: string[] = [];
  const circles: string[][] = [];
  const visit = (path: string): number => {
    const index = indices.size;
    indices.set(path, index);
    let low = index;
    open.push(path);
    for (const target of targets.get(path) ?? []) {
      if (!targets.has(target)) continue;
      if (!indices.has(target)) low = Math.min(low, visit(target));
      else if (open.includes(target)) low = Math.min(low, indices.get(target) as number);
    }
    if (low === index) {
      const circle = open.splice(open.indexOf(path));
      if (circle.length > 1 || targets.get(path)?.includes(path)) circles.push(circle);
    }
    return low;
  };
  for (const path of targets.keys()) if (!indices.has(path)) visit(path);
  return circles;
}

/**
 * Import of a package or a built-in module that loading `entry` reaches, with the file that has it.
 */
export interface ReachedModule {
  readonly file: string;
  readonly imported: ModuleImport;
}

/**
 * Returns the files and modules that loading a file loads. These are the files of its static
 * runtime imports, and the packages and built-in modules they name.
 */
export function reachedFrom(
  entry: string,
  files: readonly SourceFile[],
): { files: SourceFile[]; modules: ReachedModule[] } {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const reached = new Set<SourceFile>();
  const modules: ReachedModule[] = [];
  const open = [entry];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    const file = byPath.get(path);
    if (!file || reached.has(file)) continue;
    reached.add(file);
    open.push(...runtimeTargets(file));
    for (const imported of file.imports) {
      if (imported.kind === 'runtime' && !imported.specifier.startsWith('.'))
        modules.push({ file: path, imported });
    }
  }
  return { files: [...reached], modules };
}
