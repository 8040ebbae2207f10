import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decisionSentence, explainedComponents } from './decision-words.ts';

const sourceFolder = join(import.meta.dirname, '..');

function sources(): readonly string[] {
  return readdirSync(sourceFolder, { recursive: true, encoding: 'utf8' })
    .filter(
      (name) => name.endsWith('.ts') && !name.endsWith('.test.ts') && !name.startsWith('views'),
    )
    .map((name) => readFileSync(join(sourceFolder, name), 'utf8'));
}

const named = /\bcomponent(?:: | = | === |: string = )'([a-z_]+)'/g;

/** Names that the source gives to the components of decisions, wherever it writes one down. */
function componentsInSource(): readonly string[] {
  return [
    ...new Set(
      sources().flatMap((text) => [...text.matchAll(named)].map(([, name]) => name as string)),
    ),
  ];
}

/** The components that supervision names, in all parts of the source. */
const agreed = [
  'loop_detector',
  'error_router',
  'circuit_breaker',
  'limits',
  'guardrail',
  'result_check',
  'hooks',
  'error_handler',
];
const agreedToo = ['models', 'output', 'goal', 'permissions', 'context', 'lifecycle'];

test('there are words for every component that the source has decide something', () => {
  const found = componentsInSource().filter((name) => name !== 'string');
  expect(found.length).toBeGreaterThan(12);
  expect(found).toEqual(
    expect.arrayContaining([
      'limits',
      'invoke',
      'inbox',
      'permissions',
      'lifecycle',
      'shared_state',
    ]),
  );
  expect(
    [...found, ...agreed, ...agreedToo].filter((name) => !explainedComponents.includes(name)),
  ).toEqual([]);
});

test('every sentence is whole, whatever a decision is called and holds', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...explainedComponents, 'somebody_new', 'constructor', '__proto__'),
      fc.oneof(
        fc.constantFrom(
          'warn',
          'block',
          'retry',
          'escalate',
          'refuse',
          'grant',
          'transfer',
          'toString',
          'other',
        ),
        fc.string(),
      ),
      fc.dictionary(
        fc.constantFrom(
          'tool',
          'guardrail',
          'permissions',
          'from',
          'to',
          'kind',
          'fallback',
          'point',
          'escalateTo',
        ),
        fc.oneof(
          fc.constantFrom('constructor', '__proto__', 'input', 'human'),
          fc.string(),
          fc.integer(),
          fc.constant(null),
          fc.array(fc.string()),
        ),
      ),
      (component, decision, data) => {
        const sentence = decisionSentence({ component, decision, data }, 'support');
        expect(sentence).toMatch(/\.$/s);
        expect(sentence).not.toMatch(/undefined|\[object|\[native/);
      },
    ),
  );
});
