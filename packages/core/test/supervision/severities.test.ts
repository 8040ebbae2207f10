import { agent, agentTool, run, ToolFailure, tool } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { explain, failures } from 'adjutant/views';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

type Errors = Exclude<
  NonNullable<Exclude<NonNullable<Parameters<typeof agent>[0]['supervision']>, false>['errors']>,
  false
>;

function failing(
  errorType: string,
  status: 'error_permanent' | 'error_transient' = 'error_permanent',
) {
  return tool({
    name: 'act',
    description: 'Acts',
    schema: z.object({ n: z.number() }),
    readOnly: true,
    execute: () => {
      throw new ToolFailure('No', { errorType, status });
    },
  });
}

/** An agent that calls its tool once for each argument, and then answers. */
function worker(act: ReturnType<typeof failing>, errors: Errors | undefined, calls: number) {
  const rounds = Array.from({ length: calls }, (_, n) => ({
    toolCalls: [{ name: 'act', args: { n } }],
  }));
  const supervision = { circuitBreaker: false as const, ...(errors && { errors }) };
  return agent({
    name: 'worker',
    model: scriptedModel([...rounds, { text: 'Done.' }]),
    tools: [act],
    supervision,
  });
}

async function strategies(errorType: string, errors: Errors, calls = 1) {
  const { session } = await run(worker(failing(errorType), errors, calls), 'Go');
  return explain(session, { components: ['error_router'] }).map(
    ({ decision, data }) => `${decision} ${String(data?.['severity'])}`,
  );
}

describe('strategies by severity', () => {
  test.each<[string, string, Errors, string]>([
    [
      'the type',
      'frozen',
      { severities: { frozen: 'low' }, bySeverity: { low: ['hint'] } },
      'hint low',
    ],
    ['the status', 'frozen', { bySeverity: { high: ['hint'] } }, 'hint high'],
    [
      'a given chain first',
      'frozen',
      { chains: { frozen: ['report'] }, bySeverity: { high: ['hint'] } },
      'report high',
    ],
    [
      'severity before default',
      'frozen',
      { chains: { default: ['report'] }, bySeverity: { high: ['hint'] } },
      'hint high',
    ],
    [
      'default for other severities',
      'frozen',
      { chains: { default: ['hint'] }, bySeverity: { low: ['raw'] } },
      'hint high',
    ],
    [
      'not the faults of a call',
      'validation_error',
      { bySeverity: { low: ['report'] } },
      'hint low',
    ],
    [
      'but such that are given one',
      'validation_error',
      { severities: { validation_error: 'high' }, bySeverity: { high: ['report'] } },
      'report high',
    ],
  ])('go by %s', async (_name, errorType, errors, expected) => {
    expect(await strategies(errorType, errors)).toEqual([expected]);
  });

  test('a tool that fails alike for the fourth time is of high severity', async () => {
    const errors: Errors = {
      severities: { frozen: 'medium' },
      bySeverity: { medium: ['hint', 'report'], high: ['report'] },
    };
    expect(await strategies('frozen', errors, 5)).toEqual([
      ...['hint medium', 'hint medium', 'hint medium'],
      ...['report high', 'report high'],
    ]);
  });

  test('nothing is recorded of severities where none are configured', async () => {
    const { session } = await run(worker(failing('frozen'), undefined, 1), 'Go');
    expect(explain(session, { components: ['error_router'] })[0]?.data).not.toHaveProperty(
      'severity',
    );
    expect(failures(session)).toMatchObject([{ severity: 'high' }]);
  });

  test.each<[unknown, string]>([
    [{ severities: { frozen: 'severe' } }, '`frozen` is one of low, medium, high, critical'],
    [{ severities: [] }, 'an object that gives error types'],
    [{ severities: { timout: 'low' } }, 'did you mean `timeout`'],
    [{ bySeverity: { severe: ['report'] } }, 'not `severe`'],
    [{ bySeverity: { low: [] } }, '`low` is a list of strategies'],
    [{ bySeverity: { low: ['wait'] } }, '`low` is a list of'],
    [{ bySeverity: 'low' }, 'an object'],
  ])('%j is refused', (errors, reason) => {
    expect(() => worker(failing('frozen'), errors as Errors, 1)).toThrow(reason);
  });
});

describe('failures of one cause', () => {
  test('are linked from the tool of a called agent up to the run', async () => {
    const inner = worker(failing('frozen'), { bySeverity: { high: [{ escalate: 'caller' }] } }, 1);
    const boss = agent({
      name: 'boss',
      model: scriptedModel([{ toolCalls: [{ name: 'worker', args: { message: 'Go' } }] }]),
      tools: [agentTool(inner)],
      supervision: { errors: { chains: { escalated: [{ escalate: 'caller' }] } } },
    });
    const { session, error } = await run(boss, 'Go');
    expect(error?.code).toBe('escalated');
    const listed = failures(session);
    expect(listed.map(({ kind, name, severity }) => [kind, name, severity])).toEqual([
      ['tool', 'act', 'high'],
      ['part', 'worker', 'critical'],
      ['tool', 'worker', 'critical'],
      ['run', 'boss', 'critical'],
    ]);
    expect(listed.map(({ cause }) => cause)).toEqual([
      undefined,
      ...listed.slice(0, -1).map(({ seq }) => seq),
    ]);
  });

  test('are not linked when a model answered in between', async () => {
    const { session } = await run(worker(failing('frozen'), undefined, 2), 'Go');
    expect(failures(session).map(({ cause }) => cause)).toEqual([undefined, undefined]);
  });
});
