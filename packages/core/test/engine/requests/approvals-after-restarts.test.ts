import {
  type Agent,
  agent,
  type Event,
  type JsonValue,
  memoryStore,
  type PendingRequest,
  pending,
  type RequestAnswer,
  type RunResult,
  type Tool,
  ToolFailure,
  tool,
} from 'adjutant';
import { keptOpen, scriptedModel } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { payTool } from '../../pay-tool.ts';
import { caller } from './calling-agent.ts';
import { newProcess, work } from './restarted-approvals.ts';

interface Scenario {
  readonly runnable: Agent;
  /** Effects outside, of all processes. */
  readonly effects: readonly unknown[];
  readonly answer: (call: PendingRequest) => RequestAnswer;
}

/**
 * Works and answers until the run has ended, each time in another process; the first that comes to
 * the event `stopAt` stops there.
 */
async function carryOut(
  { runnable, answer }: Scenario,
  stopAt?: number,
): Promise<{ result: RunResult; events: readonly Event[] }> {
  const store = keptOpen(memoryStore());
  let isStopped = false;
  for (let turn = 0; turn < 20; turn++) {
    const result = await work(store, runnable, isStopped ? undefined : stopAt);
    isStopped ||= result === undefined;
    if (result === undefined) continue;
    if (result.status !== 'yielded') return { result, events: result.session.events };
    const [call] = result.pendingCalls;
    if (call !== undefined)
      await newProcess(store, runnable).requests.answer(call.requestId, answer(call));
  }
  throw new Error('The run did not end.');
}

function requestIds(events: readonly Event[]): readonly string[] {
  return events.flatMap((event) => (event.type === 'tool_yield' ? [event.requestId] : []));
}

/** A model that calls the tool in its first rounds. */
function callsInRounds(rounds: number, name: string, args: JsonValue) {
  return scriptedModel((prompt) => {
    const done = prompt.filter(({ role }) => role === 'tool').length;
    return done < rounds ? { toolCalls: [{ name, args }] } : { text: 'Done.' };
  });
}

const scenarios: Readonly<Record<string, () => Scenario>> = {
  'an approval with edited arguments': () => {
    const { pay, paid } = payTool();
    return {
      runnable: caller(pay, { cents: 5 }),
      effects: paid,
      answer: () => ({ decision: 'edit', input: { cents: 3 } }),
    };
  },
  'input for a tool': () => {
    const ask = tool({
      name: 'ask',
      description: 'Asks',
      schema: z.object({}),
      yieldSchema: z.object({ colour: z.string() }),
    });
    return {
      runnable: caller(ask as Tool, {}),
      effects: [],
      answer: () => ({ input: { colour: 'red' } }),
    };
  },
  'an operation elsewhere': () => {
    const begin = tool({
      name: 'begin',
      description: 'Begins',
      schema: z.object({}),
      idempotent: true,
      execute: (ctx) => pending({ operationId: `op-${ctx.idempotencyKey}` }),
    });
    return { runnable: caller(begin as Tool, {}), effects: [], answer: () => ({ input: 'ready' }) };
  },
  'an attempt of unknown outcome that is made again': () => {
    const effects: unknown[] = [];
    const send = tool({
      name: 'send',
      description: 'Sends',
      schema: z.object({}),
      recovery: 'ask',
      execute: (ctx) => {
        if (ctx.attempt === 1) throw new ToolFailure('The line went dead.', { effect: 'unknown' });
        effects.push('sent');
        return 'sent';
      },
    });
    return { runnable: caller(send as Tool, {}), effects, answer: () => ({ decision: 'retry' }) };
  },
  'an equal call after one of unknown outcome': () => {
    const effects: unknown[] = [];
    let isFirst = true;
    const send = tool({
      name: 'send',
      description: 'Sends',
      schema: z.object({}),
      recovery: 'report',
      execute: (ctx) => {
        if (isFirst) {
          isFirst = false;
          throw new ToolFailure('The line went dead.', { effect: 'unknown' });
        }
        effects.push(ctx.callId);
        return 'sent';
      },
    });
    const runnable = agent({ name: 'caller', model: callsInRounds(2, 'send', {}), tools: [send] });
    return { runnable, effects, answer: () => ({ decision: 'approve' }) };
  },
  'an agent at its limit': () => {
    const effects: unknown[] = [];
    const note = tool({
      name: 'note',
      description: 'Notes',
      schema: z.object({}),
      readOnly: true,
      execute: () => 'noted',
    });
    const runnable = agent({
      name: 'caller',
      model: callsInRounds(3, 'note', {}),
      tools: [note],
      limits: { rounds: 2, onLimit: 'ask' },
    });
    return { runnable, effects, answer: () => ({ decision: 'continue', input: 5 }) };
  },
};

describe.each(Object.entries(scenarios))('%s', (_name, make) => {
  test('goes on wherever a process stops, and asks the same question once', async () => {
    const whole = make();
    const reference = await carryOut(whole);
    expect(reference.result).toMatchObject({ status: 'completed', output: 'Done.' });
    const ids = requestIds(reference.events);
    expect(ids.length).toBeGreaterThan(0);
    for (let seq = 1; seq <= reference.events.length; seq++) {
      const scenario = make();
      const { result, events } = await carryOut(scenario, seq);
      expect(result, `stopped at ${seq}`).toMatchObject({ status: 'completed', output: 'Done.' });
      const asked = requestIds(events);
      expect(new Set(asked).size, `stopped at ${seq}`).toBe(asked.length);
      // A tool that was about to run when its process stopped has not run: whether it did, only its
      // recovery can say.
      const cut = events.filter(
        (event) => event.type === 'tool_result' && event.result.status === 'unknown',
      ).length;
      const cutInReference = reference.events.filter(
        (event) => event.type === 'tool_result' && event.result.status === 'unknown',
      ).length;
      if (cut === cutInReference) {
        expect(asked, `stopped at ${seq}`).toEqual(ids);
        expect(scenario.effects, `stopped at ${seq}`).toEqual(whole.effects);
      } else
        expect(scenario.effects.length, `stopped at ${seq}`).toBeLessThanOrEqual(
          whole.effects.length,
        );
    }
  });
});

test('what a probe found out is the result, whenever the process stopped', async () => {
  const make = (): Scenario & { readonly probed: unknown[] } => {
    const probed: unknown[] = [];
    const send = tool({
      name: 'send',
      description: 'Sends',
      schema: z.object({}),
      // Another process probes when the attempt cannot be under way any more.
      timeoutMs: 20,
      recovery: (ctx) => {
        probed.push(ctx.idempotencyKey);
        return { happened: true, result: 'found' };
      },
      execute: () => {
        throw new ToolFailure('The line went dead.', { effect: 'unknown' });
      },
    });
    return { runnable: caller(send as Tool, {}), effects: [], probed, answer: () => ({}) };
  };
  const { events } = await carryOut(make());
  for (let seq = 1; seq <= events.length; seq++) {
    const scenario = make();
    const { result } = await carryOut(scenario, seq);
    const results = result.session.events.flatMap((event) =>
      event.type === 'tool_result' && event.settled ? [event.result] : [],
    );
    expect(results, `stopped at ${seq}`).toMatchObject([{ status: 'success', content: 'found' }]);
    expect(new Set(scenario.probed).size, `stopped at ${seq}`).toBe(1);
  }
});

describe('the result of an operation', () => {
  async function begun() {
    const store = keptOpen(memoryStore());
    const begin = tool({
      name: 'begin',
      description: 'Begins',
      schema: z.object({}),
      outputSchema: z.object({ url: z.string() }),
      execute: () => pending({ operationId: 'op' }),
    });
    const runnable = caller(begin as Tool, {});
    await work(store, runnable);
    return { app: newProcess(store, runnable), resume: () => work(store, runnable) };
  }

  test('counts once', async () => {
    const { app, resume } = await begun();
    await expect(app.requests.settleOperation('other', {})).rejects.toMatchObject({
      code: 'request_not_found',
    });
    await expect(app.requests.settleOperation('op', { uri: 'secret-value' })).rejects.toMatchObject(
      {
        code: 'input_mismatch',
        message: expect.not.stringContaining('secret-value'),
      },
    );
    const attempts = await Promise.allSettled(
      Array.from({ length: 5 }, () =>
        app.requests.settleOperation('op', { url: 'x' }, { by: 'trigger:hook' }),
      ),
    );
    expect(attempts.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const attempt of attempts)
      if (attempt.status === 'rejected')
        expect(attempt.reason).toMatchObject({ code: 'request_settled' });
    const result = await resume();
    expect(result?.status).toBe('completed');
    await expect(app.requests.settleOperation('op', { url: 'y' })).rejects.toMatchObject({
      code: 'request_settled',
      data: { by: 'trigger:hook' },
    });
  });

  test('can be that it failed', async () => {
    const { app, resume } = await begun();
    await app.requests.settleOperation('op', 'The disk is full.', { failed: true });
    const result = await resume();
    expect(result?.session.events.findLast((event) => event.type === 'tool_result')).toMatchObject({
      result: {
        status: 'error_permanent',
        errorType: 'operation_failed',
        content: 'The disk is full.',
      },
    });
  });
});
