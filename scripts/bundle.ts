import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { rolldown } from 'rolldown';
import { repositoryRoot } from './command.ts';

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

/**
 * Bundles a program of the tests with the sources that it uses, as packages are bundled. A process
 * of it begins in a third of the time that one of the sources takes.
 * @param program path of its source
 * @param dist where it goes, inside of the repository: packages of others stay outside of it
 * @returns path of the bundled program
 */
export async function bundleProgram(program: string, dist: string): Promise<string> {
  const files = workers.map((worker) => join(repositoryRoot, 'packages/core', worker));
  const bundle = await rolldown({
    input: Object.fromEntries([program, ...files].map((file) => [basename(file, '.ts'), file])),
    platform: 'node',
    resolve: { conditionNames: ['adjutant-source', 'node', 'import'] },
    external: /^(?!adjutant(?:\/|$)|@adjutant\/)[^./]/,
    treeshake: { moduleSideEffects: false },
  });
  // Workers lie beside the modules that start them.
  const names = { entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' };
  await bundle.write({ dir: dist, format: 'esm', ...names });
  await bundle.close();
  return join(dist, `${basename(program, '.ts')}.js`);
}
