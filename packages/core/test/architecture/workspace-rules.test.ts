import { describe, expect, test } from 'vitest';
import { core, short, src } from './checked-source.ts';
import { checkFiles, checkPackages } from './file-rules.ts';
import { applyExceptions, type Exception, printFindings } from './finding.ts';
import { checkImportEffects, checkIndexShape, checkWeight } from './index-rules.ts';
import { readSource } from './source-file.ts';

function everywhere(path: string, text: string): string[] {
  return short(checkFiles([readSource(path, text)]));
}

describe('every workspace', () => {
  const lines = (count: number): string => 'const x = 1;\n'.repeat(count);

  test('refuses long files and functions', () => {
    expect(everywhere('packages/cli/src/a.ts', lines(400))).toEqual([]);
    expect(everywhere('packages/cli/src/a.ts', lines(401))).toEqual(['file-size lines']);
    expect(everywhere('packages/cli/src/a.test.ts', lines(800))).toEqual([]);
    expect(everywhere('packages/cli/src/a.test.ts', lines(801))).toEqual(['file-size lines']);
    const body = (count: number): string => `{\n${lines(count - 2)}}`;
    expect(everywhere('examples/a.ts', `function long() ${body(60)}`)).toEqual([]);
    expect(everywhere('examples/a.ts', `function long() ${body(61)}`)).toEqual([
      'function-size long',
    ]);
    expect(everywhere('examples/a.ts', `const long = async () => ${body(61)};`)).toEqual([
      'function-size long',
    ]);
    expect(everywhere('examples/a.ts', `class A { #long() ${body(61)} }`)).toEqual([
      'function-size long',
    ]);
    expect(everywhere('examples/a.test.ts', `describe('x', () => ${body(90)});`)).toEqual([]);
  });

  test('refuses export *, default exports, any and what cannot be parsed', () => {
    expect(everywhere('scripts/a.ts', "export * from './b.ts';")).toEqual(['export-star ./b.ts']);
    expect(everywhere('scripts/a.ts', "export * as b from './b.ts';")).toEqual([
      'export-star ./b.ts',
    ]);
    expect(everywhere('scripts/a.ts', 'export default 1;')).toEqual(['default-export default']);
    expect(everywhere('scripts/a.ts', "export { b as default } from './b.ts';")).toEqual([
      'default-export default',
    ]);
    expect(everywhere('scripts/a.ts', 'export const a = (b: any[]) => b;')).toEqual(['any any']);
    expect(everywhere('scripts/a.ts', "export const any = 'any';")).toEqual([]);
    expect(everywhere('scripts/a.ts', 'export const = ;')[0]).toMatch(/^syntax /);
  });

  test('refuses a way into another workspace past its package', () => {
    expect(
      everywhere('examples/a.ts', "import { agent } from '../packages/core/src/index.ts';"),
    ).toEqual(['workspace-import ../packages/core/src/index.ts']);
    expect(everywhere('packages/cli/src/a.ts', "import { b } from './b.ts';")).toEqual([]);
  });

  test('refuses packages that an install does not bring', () => {
    const manifest = {
      folder: 'packages/core',
      name: 'adjutant',
      dependencies: ['@ai-sdk/provider'],
      optionalPeers: ['@ai-sdk/openai'],
    };
    const check = (text: string): string[] =>
      short(checkPackages(core({ 'models/providers/openai.ts': text }), manifest));
    expect(check("import { z } from 'zod';")).toEqual(['package-import zod']);
    expect(check("import { createOpenAI } from '@ai-sdk/openai';")).toEqual([
      'package-import @ai-sdk/openai',
    ]);
    expect(
      check("const load = () => import('@ai-sdk/openai'); import { x } from '@ai-sdk/provider';"),
    ).toEqual([]);
    expect(check("import type { OpenAIProvider } from '@ai-sdk/openai';")).toEqual([]);
  });
});

describe('circles', () => {
  const cycles = (sources: Readonly<Record<string, string>>): string[] =>
    short(checkFiles(core(sources)));

  test('are found', () => {
    expect(
      cycles({
        'loop/a.ts': "import { b } from './b.ts';",
        'loop/b.ts': "export { c } from './c.ts';",
        'loop/c.ts': "import { a } from './a.ts';",
      }),
    ).toEqual([`import-circle ${src}loop/a.ts, ${src}loop/b.ts, ${src}loop/c.ts`]);
    expect(cycles({ 'loop/a.ts': "import { a } from './a.ts';" })).toHaveLength(1);
  });

  test('of types, or through import(), are circles too', () => {
    expect(
      cycles({
        'loop/a.ts': "import { b } from './b.ts';",
        'loop/b.ts': "import type { A } from './a.ts';",
      }),
    ).toHaveLength(1);
    expect(
      cycles({
        'loop/a.ts': "import { b } from './b.ts';",
        'loop/b.ts': "const load = () => import('./a.ts');",
      }),
    ).toHaveLength(1);
  });
});

describe('the index', () => {
  test('holds nothing but named re-exports', () => {
    const shape = (text: string): string[] =>
      short(checkIndexShape(readSource(`${src}index.ts`, text)));
    expect(
      shape(
        "export { agent } from './runnables/agent.ts'; export type { Event } from " +
          "'./ledger/event.ts';",
      ),
    ).toEqual([]);
    expect(shape("import { agent } from './runnables/agent.ts'; export { agent };")).toEqual([
      'index-shape ImportDeclaration',
      'index-shape ExportNamedDeclaration',
    ]);
    expect(shape("export { a } from './a.ts';\n".repeat(251))).toEqual(['index-shape lines']);
  });

  test('does not load slow modules or packages outside the dependencies, however far away', () => {
    const files = core({
      'index.ts':
        "export { agent } from './runnables/agent.ts'; export type { Database } from " +
        "'./stores/sqlite/database.ts';",
      'runnables/agent.ts': "import { evaluate } from './expression.ts';",
      'runnables/expression.ts':
        "import { evaluate } from 'mathjs'; import { DatabaseSync } from 'node:sqlite'; " +
        "import { hash } from 'node:crypto'; import 'ajv/dist/2020.js';",
      'stores/sqlite/database.ts': "import { Worker } from 'node:worker_threads';",
    });
    expect(short(checkWeight(`${src}index.ts`, files, ['ajv']))).toEqual([
      'index-weight mathjs',
      'index-weight node:sqlite',
      'index-weight ajv/dist/2020.js',
    ]);
  });

  test('runs nothing on import', () => {
    const effects = (text: string): string[] => {
      const files = core({ 'index.ts': "export { a } from './engine/a.ts';", 'engine/a.ts': text });
      return short(checkImportEffects(`${src}index.ts`, files));
    };
    expect(effects("process.on('exit', () => {});")).toEqual([
      'import-side-effect ExpressionStatement',
    ]);
    expect(effects('if (globalThis.x) { start(); }')).toEqual(['import-side-effect IfStatement']);
    expect(effects("import './polyfill.ts';")).toEqual([
      "import-side-effect import './polyfill.ts'",
    ]);
    expect(
      effects(
        'export const a = Object.freeze({}); export type B = 1; export interface C {} ' +
          'export abstract class D {} declare const e: unique symbol;',
      ),
    ).toEqual([]);
  });
});

describe('exceptions', () => {
  const findings = checkFiles([readSource('examples/a.ts', 'export default 1;')]);
  const exception: Exception = {
    rule: 'default-export',
    file: 'examples/a.ts',
    subject: 'default',
    reason: 'a tool asks for it',
  };

  test('accept the finding they name and no other', () => {
    expect(applyExceptions(findings, [exception])).toEqual([]);
    expect(short(applyExceptions(findings, []))).toEqual(['default-export default']);
  });

  test('that accept nothing are findings', () => {
    expect(short(applyExceptions([], [exception]))).toEqual(['stale-exception default']);
  });

  test('findings print with file and line', () => {
    expect(printFindings(findings)).toBe('examples/a.ts:1  default-export  use a named export');
  });
});
