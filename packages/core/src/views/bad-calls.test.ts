import { expect, expectTypeOf, test } from 'vitest';
import { type DecisionComponent, type ExplainOptions, explain, failures } from './index.ts';

const untyped = (value: unknown) => value as never;

test.each<[string, () => unknown, RegExp]>([
  [
    'the name of a session',
    () => explain(untyped('ann')),
    /explain\(\) .*needs a session or a list of events, not "ann"/,
  ],
  [
    'nothing',
    () => explain(untyped(undefined)),
    /needs a session or a list of events, not undefined/,
  ],
  [
    'an object that is no session',
    () => failures(untyped({ events: [] })),
    /failures\(\) .*needs a session or a list of events, not an object/,
  ],
  [
    'a misspelt option',
    () => explain([], untyped({ component: ['limits'] })),
    /no option `component` \(did you mean `components`\?\)/,
  ],
  [
    'a component that is no list',
    () => explain([], untyped({ components: 'limits' })),
    /`components` must be a list of strings, not "limits"/,
  ],
  [
    'a place that is no number',
    () => explain([], untyped({ upTo: 'x' })),
    /`upTo` must be a number, not "x"/,
  ],
])('%s is refused by a view', (_title, look, expected) => {
  expect(look).toThrow(
    expect.objectContaining({ code: 'invalid_option', message: expect.stringMatching(expected) }),
  );
});

test('components have names that an editor knows, and others may be given', () => {
  expectTypeOf<'loop_detector'>().toExtend<DecisionComponent>();
  expectTypeOf<'loops'>().not.toExtend<DecisionComponent>();
  expectTypeOf<{ components: ['my_own'] }>().toExtend<ExplainOptions>();
  expect(explain([], { components: ['loop_detector', 'my_own'] })).toEqual([]);
});
