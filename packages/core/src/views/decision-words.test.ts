import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type DecisionComponent, decisionSentence } from './decision-words.ts';

const sourceFolder = join(import.meta.dirname, '..');

/** All components that decide: the type asks for each of them. */
const components: Readonly<Record<DecisionComponent, true>> = {
  loop_detector: true,
  error_router: true,
  circuit_breaker: true,
  limits: true,
  guardrail: true,
  result_check: true,
  permissions: true,
  hooks: true,
  error_handler: true,
  models: true,
  output: true,
  goal: true,
  context: true,
  request: true,
  lifecycle: true,
  handoff: true,
  recovery: true,
  tools: true,
  run: true,
  failures: true,
  inbox: true,
  approval_token: true,
  invoke: true,
  parallel: true,
  plan: true,
  spawn: true,
  session: true,
  fork: true,
  edit: true,
  shared_state: true,
  scheduler: true,
  eval: true,
  outbox: true,
  service: true,
  bus: true,
  trigger: true,
  notifier: true,
  router: true,
  graph: true,
};

function sources(): readonly string[] {
  return readdirSync(sourceFolder, { recursive: true, encoding: 'utf8' })
    .filter(
      (name) => name.endsWith('.ts') && !name.endsWith('.test.ts') && !name.startsWith('views'),
    )
    .map((name) => readFileSync(join(sourceFolder, name), 'utf8'));
}

test('no source writes the draft of a decision by hand, so the types know all decisions', () => {
  // `ledger/decisions` makes them: once as a value, and once as a type.
  const byHand = sources().flatMap((text) => [...text.matchAll(/\btype: 'decision'[,;]/g)]);
  expect(byHand).toHaveLength(2);
});

test('every sentence is whole, whatever a decision is called and holds', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...Object.keys(components), 'somebody_new', 'constructor', '__proto__'),
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
