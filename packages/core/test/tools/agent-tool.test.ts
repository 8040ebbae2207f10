import { type AgentToolOptions, agent, agentTool, runtime } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

/** A boss that asks a researcher once. */
function office(options: AgentToolOptions<{ answer: number; sources: string[] }>) {
  const answers = scriptedModel([{ text: '{"answer":42,"sources":["a","b"]}' }]);
  const researcher = agent({
    name: 'researcher',
    model: answers,
    output: z.object({ answer: z.number(), sources: z.array(z.string()) }),
  });
  const model = scriptedModel([
    { toolCalls: [{ name: 'researcher', args: { message: 'How much?' } }] },
    { text: 'Done.' },
  ]);
  const boss = agent({ name: 'boss', model, tools: [agentTool(researcher, options)] });
  return { app: runtime({ app: 'office', runnables: [boss] }), boss, model, answers };
}

describe('agentTool', () => {
  test('with `approval` asks before the agent is called', async () => {
    const { app, boss, answers } = office({ approval: true });
    const waiting = await app.run(boss, 'Ask');
    const [request] = waiting.pendingApprovals;
    expect(request).toMatchObject({ args: { message: 'How much?' } });
    expect(answers.calls).toHaveLength(0);
    await app.requests.approve(request?.requestId ?? '');
    expect(await app.resume(waiting.session)).toMatchObject({
      status: 'completed',
      output: 'Done.',
    });
    expect(answers.calls).toHaveLength(1);
  });

  test('with `approval` that is rejected does not call it', async () => {
    const { app, boss, model, answers } = office({ approval: { when: () => true } });
    const waiting = await app.run(boss, 'Ask');
    await app.requests.reject(waiting.pendingApprovals[0]?.requestId ?? '', {
      reason: 'Too dear.',
    });
    await app.resume(waiting.session);
    expect(answers.calls).toHaveLength(0);
    expect(JSON.stringify(model.calls[1]?.prompt)).toContain('Too dear.');
  });

  test('with `requiresPermission` is not called without it', async () => {
    const { app, boss, answers } = office({ requiresPermission: ['research'] });
    await app.run(boss, 'Ask');
    expect(answers.calls).toHaveLength(0);
  });

  test('with `result` shows the model what that makes of the output', async () => {
    const { app, boss } = office({ result: ({ answer }) => `It is ${answer}.` });
    const { session } = await app.run(boss, 'Ask');
    const results = session.events.flatMap((event) =>
      event.type === 'tool_result' ? [event.result.content] : [],
    );
    expect(results).toEqual(['It is 42.']);
  });

  test.each([
    ['needsApproval', { needsApproval: true }, '`needsApproval` (it is `approval` here)'],
    ['timeout', { timeout: 5 }, '`timeout` (it is called `timeoutMs` now)'],
    ['toolName', { nam: 'x' }, '`nam` (did you mean `name`?)'],
  ])('refuses %s', (_name, options, hint) => {
    expect(() => office(options as never)).toThrow(
      `The tool "researcher" cannot be defined: there is no option ${hint}.`,
    );
  });
});
