import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { isAdjutantError } from '../../base/error.ts';
import { loadOptionalPackage } from '../../base/optional-package.ts';
import { claude } from './claude.ts';
import { gemini } from './gemini.ts';
import { openai } from './openai.ts';
import { openaiCompatible } from './openai-compatible.ts';

test.each([
  ['openai', openai('gpt-5', { apiKey: 'k' })],
  ['gemini', gemini('gemini-2.5-pro', { apiKey: 'k' })],
  ['claude', claude('claude-sonnet-4-5', { apiKey: 'k' })],
  ['openai-compatible', openaiCompatible({ baseURL: 'http://127.0.0.1:1/v1', model: 'm' })],
])('%s loads its package once and remembers the model', async (provider, model) => {
  expect(model).toMatchObject({ kind: 'model', provider });
  expect(Object.isFrozen(model)).toBe(true);
  const [first, second] = await Promise.all([model.load(), model.load()]);
  expect(first).toMatchObject({ specificationVersion: 'v4' });
  expect(second).toBe(first);
  expect(model.load()).toBe(first);
});

test('a load that failed is tried again', async () => {
  const env: Record<string, string> = {};
  const model = openai('gpt-5', { env });
  await expect(async () => model.load()).rejects.toMatchObject({ code: 'missing_key' });
  env['OPENAI_API_KEY'] = 'k';
  expect(await model.load()).toMatchObject({ modelId: 'gpt-5' });
});

test('a package that is not installed is named', async () => {
  // As a separate program, because the test runner has a module loader of its own.
  const folder = await mkdtemp(join(tmpdir(), 'adjutant-package-'));
  try {
    const file = join(folder, 'load.ts');
    const source = JSON.stringify(new URL('../../base/optional-package.ts', import.meta.url).href);
    await writeFile(
      file,
      `import { loadOptionalPackage } from ${source};
const load = () => import('@ai-sdk/not-installed');
const failure = await loadOptionalPackage('@ai-sdk/not-installed', 'The model x:y', load)
  .catch((error: unknown) => error);
console.log(JSON.stringify(failure));\n`,
    );
    const { stdout } = await promisify(execFile)(process.execPath, [file]);
    expect(JSON.parse(stdout)).toMatchObject({
      code: 'missing_package',
      message:
        'The model x:y needs the package "@ai-sdk/not-installed". Install it: npm install ' +
        '@ai-sdk/not-installed',
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test('a package that is installed and broken is not called missing', async () => {
  const broken = new SyntaxError('broken');
  const failure = await loadOptionalPackage('x', 'y', () => Promise.reject(broken)).catch(
    (error: unknown) => error,
  );
  expect(failure).toBe(broken);
  expect(isAdjutantError(failure)).toBe(false);
});
