import { agent, step } from 'adjutant';
import { graph, router } from 'adjutant/plan';
import { model, runTest, scriptedModel, user } from 'adjutant/testing';
import { explain, runMermaid, runTree } from 'adjutant/views';
import { expect, test } from 'vitest';

test('runTest gives agents of graphs and routers their answers, and views know both', async () => {
  const never = scriptedModel([]);
  const desk = router({
    name: 'desk',
    routes: [
      graph({
        name: 'line',
        nodes: {
          facts: step({ name: 'facts', execute: (ctx) => ctx.complete('facts') }),
          writer: agent({ name: 'writer', model: never }),
        },
        edges: [{ from: 'facts', to: 'writer', when: (text) => text === 'facts' }],
        start: 'facts',
      }),
      agent({ name: 'other', model: never }),
    ],
    rules: [],
    model: never,
  });
  const { output, session } = await runTest(desk, [
    user('Write'),
    model('{"target":"line","confidence":1,"reason":"it writes","fallback":null}'),
    model('Written.'),
  ]);
  expect(output).toBe('Written.');
  expect(explain(session).map(({ component }) => component)).toEqual(['router', 'graph', 'graph']);
  expect(runTree(session.events)[0]?.kind).toBe('router');
  expect(runMermaid(session.events)).toContain('graph completed');
});
