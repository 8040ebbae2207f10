import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { rolldown } from 'rolldown';

/** Started by file name, so that no import leads to it. */
const workers = ['./src/stores/sqlite/worker.ts'];

type Manifest = {
  readonly exports: Readonly<Record<string, string | { readonly 'adjutant-source'?: string }>>;
};

/**
 * Compiles a package to one file for each of its entries, and files that entries share. Node takes
 * about half a millisecond for each file that is imported: a file for each module would make the
 * import of the core three times as slow and take twice the memory.
 * @param home folder of the package; its package.json names the entries
 * @param dist where the modules go; declarations are the compiler's
 */
export async function bundleEntries(home: string, dist: string): Promise<void> {
  const { exports } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')) as Manifest;
  const sources = Object.values(exports).flatMap((target) =>
    typeof target === 'string' ? [] : (target['adjutant-source'] ?? []),
  );
  const entries = [...sources, ...workers.filter((worker) => existsSync(join(home, worker)))];
  const input = Object.fromEntries(
    entries.map((entry) => [
      entry.replace(/^\.\/src\//, '').replace(/\.ts$/, ''),
      join(home, entry),
    ]),
  );
  const bundle = await rolldown({
    input,
    platform: 'node',
    external: /^[^./]/,
    treeshake: { moduleSideEffects: false },
  });
  await bundle.write({
    dir: dist,
    format: 'esm',
    sourcemap: true,
    // Editors show the docstrings of the declarations; here they would only be loaded.
    comments: { annotation: true, jsdoc: false, legal: true },
    entryFileNames: '[name].js',
    chunkFileNames: 'shared/[name]-[hash].js',
  });
  await bundle.close();
}
