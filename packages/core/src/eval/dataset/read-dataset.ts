import { isAdjutantError } from '../../base/error.ts';
import { loadOptionalPackage } from '../../base/optional-package.ts';
import { InvalidDatasetError } from './errors.ts';
import type { Dataset } from './eval-case.ts';
import { parseDataset } from './parse-dataset.ts';

const moduleEndings = ['.ts', '.mts', '.cts', '.js', '.mjs', '.cjs'];
const yamlEndings = ['.yaml', '.yml'];
const lineEndings = ['.jsonl', '.ndjson'];

/**
 * Reads a dataset from a file, by its ending: `.json`, `.jsonl` (one case a line), `.yaml` and
 * `.yml` (which need the package `yaml`), or a module (`.ts`, `.js`, …), whose default export,
 * `dataset` or `cases` it is. A module is run: read only those that you trust. What a document may
 * look like says `parseDataset`.
 * @throws InvalidDatasetError, MissingPackageError
 */
export async function readDataset(path: string | URL): Promise<Dataset> {
  const { fileURLToPath } = process.getBuiltinModule('node:url');
  const file = typeof path === 'string' && !path.startsWith('file:') ? path : fileURLToPath(path);
  return parseDataset(await readDocument(file), file);
}

async function readDocument(file: string): Promise<unknown> {
  const has = (endings: readonly string[]): boolean =>
    endings.some((ending) => file.toLowerCase().endsWith(ending));
  if (has(moduleEndings)) return readModule(file);
  if (has(yamlEndings)) return readYaml(file, await readText(file));
  if (has(lineEndings)) return readLines(file, await readText(file));
  if (has(['.json'])) return parseJson(file, await readText(file), '');
  const known = [...['.json'], ...lineEndings, ...yamlEndings, ...moduleEndings].join(', ');
  throw new InvalidDatasetError({
    source: file,
    path: '',
    reason: `its name must end with one of ${known}`,
  });
}

async function readText(file: string): Promise<string> {
  const { readFile } = process.getBuiltinModule('node:fs/promises');
  try {
    const text = await readFile(file, 'utf8');
    return text.startsWith('\uFEFF') ? text.slice(1) : text;
  } catch (cause) {
    throw new InvalidDatasetError(
      { source: file, path: '', reason: (cause as Error).message },
      { cause },
    );
  }
}

function parseJson(file: string, text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new InvalidDatasetError(
      { source: file, path, reason: `it is not JSON (${(cause as Error).message})` },
      { cause },
    );
  }
}

function readLines(file: string, text: string): unknown {
  return text
    .split('\n')
    .flatMap((line, i) => (line.trim() === '' ? [] : [parseJson(file, line, `line ${i + 1}`)]));
}

async function readYaml(file: string, text: string): Promise<unknown> {
  const yaml = await loadOptionalPackage('yaml', 'Reading a dataset in YAML', () => import('yaml'));
  try {
    // Many aliases of aliases would grow to more than fits into memory.
    return yaml.parse(text, { schema: 'core', logLevel: 'error', maxAliasCount: 100 });
  } catch (cause) {
    const [reason = ''] = (cause as Error).message.split('\n');
    throw new InvalidDatasetError(
      { source: file, path: '', reason: `it is not YAML (${reason.replace(/[.:]$/, '')})` },
      { cause },
    );
  }
}

async function readModule(file: string): Promise<unknown> {
  const { pathToFileURL } = process.getBuiltinModule('node:url');
  let exports: Record<string, unknown>;
  try {
    exports = (await import(pathToFileURL(file).href)) as Record<string, unknown>;
  } catch (cause) {
    if (isAdjutantError(cause)) throw cause;
    throw new InvalidDatasetError(
      { source: file, path: '', reason: `loading it failed: ${(cause as Error).message}` },
      { cause },
    );
  }
  const name = ['default', 'dataset', 'cases'].find((one) => exports[one] !== undefined);
  if (name === undefined)
    throw new InvalidDatasetError({
      source: file,
      path: '',
      reason: 'it exports no `default`, `dataset` or `cases`',
    });
  return exports[name];
}
