import { agent, memoryStore, runtime, tool } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { expect, test } from 'vitest';

test(
  'a fork at any place inside an answer has all of that answer, and goes on without asking ' +
    'for it again',
  async () => {
    const store = memoryStore();
    const add = tool({
      name: 'add',
      description: 'Adds',
      schema: { type: 'object' },
      readOnly: true,
      execute: () => 3,
    });
    const make = (responses: Parameters<typeof scriptedModel>[0]) =>
      agent({ name: 'worker', model: scriptedModel(responses), tools: [add] });
    const first = { thoughts: 'hm', text: 'I add.', toolCalls: [{ name: 'add', args: {} }] };
    const whole = await runtime({ app: 'test', store, recover: 'manual' }).run(
      make([first, { text: 'three' }]),
      { input: 'go', session: 's' },
    );
    const { events } = whole.session;
    const end = events.find(({ type }) => type === 'model_end')?.seq ?? 0;
    const inside = events.filter(
      ({ type, seq }) => seq < end && ['thought', 'assistant', 'tool_call'].includes(type),
    );
    expect(inside).toHaveLength(3);
    for (const { seq } of inside) {
      const app = runtime({
        app: 'test',
        store,
        recover: 'manual',
        runnables: [make([{ text: 'three' }])],
      });
      const { id } = await app.sessions.fork('s', { at: seq });
      const { session, output } = await app.resume(id);
      expect(output).toBe('three');
      expect(session.events.filter(({ type }) => type === 'tool_call')).toHaveLength(1);
      expect(session.events[end]).toMatchObject({
        type: 'decision',
        component: 'fork',
        data: { at: end },
      });
    }
  },
);
