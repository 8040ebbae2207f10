import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { bench, jsonLines } from '../run-cli.ts';

const desk = join(import.meta.dirname, '../fixtures/desk/src/desk-app.ts');
const several = `import { deskApp } from '${desk}';\n`;

/** Configurations that cannot be used, each with the sentence about it. */
const broken: readonly [config: string, sentence: RegExp][] = [
  [
    `const port = 1;\n\nthrow new TypeError('There is no port.');`,
    /adjutant\.config\.ts cannot be loaded: TypeError: There is no port \(adjutant\.config\.ts:3\)\. Mend it there, or leave the file out with --no-config\.$/,
  ],
  [
    `import './src/helper.ts';\nexport const app = 1;`,
    /cannot be loaded: Error: no helper \(src\/helper\.ts:2\)\. Mend it there/,
  ],
  [`export const app = {`, /cannot be loaded: SyntaxError: .*adjutant\.config\.ts:1\)\. Mend it/],
  [`export enum Kind { a }`, /cannot be loaded: SyntaxError: .*enum/],
  [
    `import 'nobody-has-this';`,
    /cannot be loaded: Error: Cannot find package 'nobody-has-this'.*Install it: npm install nobody-has-this$/,
  ],
  [
    `const app = 1;`,
    /exports no app \(but default\)\. It must export a runtime as `app` or by default: export/,
  ],
  [
    `export const { shop } = { shop: 1 };`,
    /exports no app \(but shop\)\. It must export a runtime as `app`/,
  ],
  [
    `${several}export const app = deskApp('coder', ':memory:');\n` +
      `export default deskApp('support', ':memory:');`,
    /exports several apps: `app` \("desk"\) and `default` \("desk"\)\. Export one of them, as `app`\.$/,
  ],
  [
    `${several}export const day = deskApp('coder', ':memory:');\n` +
      `export const night = deskApp('support', ':memory:');`,
    /exports several apps: `day` \("desk"\) and `night` \("desk"\)\. Export one of them/,
  ],
];

const commands: readonly string[][] = [
  ['run', 'Hello', '--json'],
  ['chat'],
  ['sessions'],
  ['approvals'],
  ['approve', 'req_1'],
  ['delete', 'x'],
];

describe('a configuration that cannot be used is told in one sentence, and nothing is done', () => {
  test.for(broken.map((one, i) => [...one, commands[i % commands.length] as string[]] as const))(
    '%s',
    async ([config, sentence, args]) => {
      const { folder, run, store } = bench();
      mkdirSync(join(folder, 'src'));
      writeFileSync(join(folder, 'src/helper.ts'), `\nthrow new Error('no helper');\n`);
      writeFileSync(join(folder, 'adjutant.config.ts'), config);
      const { code, stdout, stderr } = await run(args, { cwd: folder });
      expect(stderr.trimEnd()).toMatch(sentence);
      expect(stderr.trimEnd().split('\n')).toHaveLength(1);
      expect(code).toBe(2);
      expect(jsonLines(stdout)).toEqual(
        args.includes('--json')
          ? [{ type: 'error', error: expect.objectContaining({ code: 'invalid_config' }) }]
          : [],
      );
      expect(existsSync(dirname(store))).toBe(false);
    },
  );
});

test('a model without its key is told before anything is done', async () => {
  const { folder, run } = bench();
  const place = join(import.meta.dirname, '../fixtures/news');
  const store = join(folder, 'news.db');
  const ran = await run(['run', 'Hello', '--json'], {
    cwd: place,
    env: { NEWS_STORE: store, NEWS_FLOW: 'yes' },
  });
  expect(ran.code).toBe(2);
  expect(ran.stderr).toMatch(
    /^adjutant: adjutant\.config\.ts: the agent "writer" cannot be run: openai:gpt-5-mini needs credentials\. Set OPENAI_API_KEY .*\n$/,
  );
  expect(jsonLines(ran.stdout)).toMatchObject([{ type: 'error', error: { code: 'missing_key' } }]);
  const listed = await run(['sessions', '--json'], {
    cwd: place,
    env: { NEWS_STORE: store, NEWS_FLOW: 'yes' },
  });
  expect(listed.stdout).toBe('');
});
