import { graph } from 'adjutant/plan';
import { describe, expect, test } from 'vitest';
import { gives, passes } from './nodes.ts';

describe('refused definitions', () => {
  const [a, b, c] = [gives('a', 1), passes('b'), passes('c')];
  const valid = { name: 'g', nodes: { a, b }, edges: [{ from: 'a', to: 'b' }], start: 'a' };
  const edge = (more: object) => ({ edges: [{ from: 'a', to: 'b', ...more }] });
  test.each([
    ['no node', { nodes: {} }, '`nodes` must have at least one node'],
    ['what is no runnable', { nodes: { a: {} } }, 'the node "a" is not a runnable'],
    ['an id with a slash', { nodes: { 'a/b': a } }, 'the node "a/b" has no usable id'],
    ['an unknown node', edge({ to: 'x' }), '`edges[0].to` is "x", and there are: a, b'],
    ['an unknown start', { start: 'x' }, '`start` names the node "x"'],
    ['no start', { start: [] }, '`start` must be the id of a node'],
    ['one start twice', { start: ['a', 'a'] }, '`start` has "a" twice'],
    ['an unknown output', { output: 'x' }, '`output` names the node "x"'],
    ['a node without a way', { nodes: { a, b, c } }, 'nothing leads to the node "c"'],
    [
      'a cycle without a limit',
      {
        nodes: { a, b, c },
        edges: [
          { from: 'a', to: 'b' },
          { from: 'b', to: 'c' },
          { from: 'c', to: 'b' },
        ],
      },
      'there is a cycle without a limit (b → c → b)',
    ],
    ['a limit without a cycle', edge({ max: 2 }), 'has a `max` and closes no cycle'],
    ['a start with a way to it', { start: ['a', 'b'] }, 'the start "b" is also led to by "a"'],
    [
      'two equal edges',
      { edges: [...valid.edges, ...valid.edges] },
      'two edges lead from "a" to "b"',
    ],
    ['two conditions', edge({ when: () => true, otherwise: true }), 'has `when` and `otherwise`'],
    ['value and error', edge({ when: () => true, error: true }), 'has `when` and `error`'],
    ['an error of no kind', edge({ error: 7 }), '`edges[0].error` must be true, a code'],
    ['an unknown member', edge({ if: 1 }), 'in `edges[0]` there is no option `if`'],
    ['a join of one way', { joins: { b: 'any' } }, 'to which only 1 edges lead'],
    [
      'a join of too many',
      {
        nodes: { a, b, c },
        edges: [
          { from: 'a', to: 'c' },
          { from: 'b', to: 'c' },
        ],
        start: ['a', 'b'],
        joins: { c: 3 },
      },
      "the join of \"c\" must be 'all', 'any' or a whole number from 1 to 2",
    ],
    [
      'no end',
      {
        edges: [
          { from: 'a', to: 'b' },
          { from: 'b', to: 'a', max: 1 },
        ],
      },
      'it needs `output`',
    ],
    ['a limit of none', { limits: { parallel: 0 } }, '`parallel` is a whole number from 1'],
    ['an unknown option', { node: {} }, 'no option `node`'],
  ])('%s', (_what, options, message) => {
    const define = () => graph({ ...valid, ...options } as never);
    expect(define).toThrow(
      expect.objectContaining({
        code: 'invalid_definition',
        message: expect.stringContaining(message),
      }),
    );
  });
});
