import { expect, expectTypeOf, test } from 'vitest';
import type { Event } from '../event.ts';
import { decision, isDecision } from './decision.ts';
import { decisionFold } from './steering.ts';

const given = { seq: 1, v: 1, id: 'e', at: 0 };
const fallback = decision('models', 'fallback', {
  invocationId: 'run',
  reasoning: 'The first model cannot answer.',
  data: { rung: 1, from: 'a', to: 'b', code: 'model_failed' },
});

test('the draft of a decision has its members in the order in which they were always stored', () => {
  expect(Object.keys(fallback)).toEqual([
    'type',
    'by',
    'invocationId',
    'component',
    'decision',
    'reasoning',
    'data',
  ]);
  const outside = decision('session', 'create', { by: 'user:1', reasoning: 'It was made.' });
  expect(Object.keys(outside)).toEqual(['type', 'by', 'component', 'decision', 'reasoning']);
});

test('data of a decision that was told apart has its type', () => {
  const event: Event = { ...given, ...fallback };
  expect(isDecision(event, 'models', 'nudge')).toBe(false);
  expect(isDecision(event, 'hooks')).toBe(false);
  expect(isDecision(event, 'models')).toBe(true);
  if (!isDecision(event, 'models', 'nudge', 'fallback') || event.decision !== 'fallback')
    throw new Error('It is a fallback.');
  expectTypeOf(event.data?.rung).toEqualTypeOf<number | undefined>();
  expect(event.data?.rung).toBe(1);
});

test('a misspelt decision and wrong data do not compile', () => {
  // @ts-expect-error the component has no such decision
  decision('models', 'fallbck', { reasoning: '' });
  // @ts-expect-error the data of the decision are missing
  decision('models', 'fallback', { reasoning: '' });
  // @ts-expect-error a fold says what each decision does
  decisionFold<'invocations', object>({});
});

test('a fold ignores decisions that it does not know, whatever their names are', () => {
  const steer = decisionFold<'invocations', string[]>({
    'spawn.detach': (paths, { data }) => {
      paths.push(data?.path ?? '');
    },
  });
  const paths: string[] = [];
  const detach = decision('spawn', 'detach', { reasoning: '', data: { path: 'run/a' } });
  for (const names of [
    {},
    { component: 'constructor' },
    { decision: 'toString' },
    { component: 'spawn.detach', decision: '' },
  ])
    steer(paths, { ...given, ...detach, ...names });
  expect(paths).toEqual(['run/a']);
});
