import { relativeTarget } from '../../packages/core/test/architecture/import-graph.ts';
import type { SourceFile } from '../../packages/core/test/architecture/source-file.ts';

/**
 * Groups of files that import one another, over all imports: those of types and `import()` too.
 * Strongly connected components after Tarjan, "Depth-first search and linear graph algorithms"
 * (1972).
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
      if (circle.length > 1) circles.push(circle);
    }
    return low;
  };
  for (const path of targets.keys()) if (!indices.has(path)) visit(path);
  return circles;
}
