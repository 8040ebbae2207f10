import { session } from 'adjutant';
import { validateResumeState } from 'adjutant/views';
import { describe, expect, test } from 'vitest';
import { recorded } from './recorded-session.ts';

describe('validateResumeState', () => {
  const ask = {
    fingerprint: 'f',
    request: { agent: 'a', summary: 'May I?', options: ['approve', 'reject'] as const },
  };
  const waiting = [
    {
      type: 'invocation_start',
      by: 'runtime',
      invocationId: 'run',
      kind: 'agent',
      name: 'a',
      mode: 'root',
    },
    {
      type: 'tool_yield',
      by: 'runtime',
      invocationId: 'run',
      callId: 'run/r1.0',
      name: 'pay',
      args: { cents: 5 },
      kind: 'approval',
      requestId: 'q1',
      generation: 1,
      ...ask,
    },
    {
      type: 'tool_yield',
      by: 'runtime',
      invocationId: 'run',
      callId: 'run/r1.1',
      name: 'ask',
      args: {},
      kind: 'input',
      requestId: 'q2',
      generation: 1,
      ...ask,
    },
    { type: 'invocation_yield', by: 'runtime', invocationId: 'run', reason: 'tool_input' },
  ] as const;

  test('says which calls wait, until each is answered', async () => {
    const made = await session('travel');
    made.append(waiting);
    expect(validateResumeState(made.events)).toEqual({
      canResume: false,
      openRun: 'run',
      awaitingInput: [],
      pendingCalls: [
        {
          callId: 'run/r1.0',
          requestId: 'q1',
          invocationId: 'run',
          name: 'pay',
          args: { cents: 5 },
          kind: 'approval',
          request: ask.request,
        },
        {
          callId: 'run/r1.1',
          requestId: 'q2',
          invocationId: 'run',
          name: 'ask',
          args: {},
          kind: 'input',
          request: ask.request,
        },
      ],
    });
    made.append([
      {
        type: 'tool_input',
        by: 'user',
        invocationId: 'run',
        callId: 'run/r1.0',
        requestId: 'q1',
        decision: 'approve',
      },
    ]);
    expect(validateResumeState(made.events)).toMatchObject({
      canResume: false,
      pendingCalls: [{ requestId: 'q2' }],
    });
    made.append([
      {
        type: 'tool_input',
        by: 'user',
        invocationId: 'run',
        callId: 'run/r1.1',
        requestId: 'q2',
        input: 'yes',
      },
    ]);
    expect(validateResumeState(made.events)).toEqual({
      canResume: true,
      openRun: 'run',
      pendingCalls: [],
      awaitingInput: [],
    });
  });

  test('says which loop waits for a message, until it has one', async () => {
    const made = await session('travel');
    const start = (path: string, name: string, kind: 'loop' | 'sequence', mode: 'root' | 'child') =>
      ({ type: 'invocation_start', by: 'runtime', invocationId: path, kind, name, mode }) as const;
    made.append([
      start('run', 'all', 'sequence', 'root'),
      start('run/chat', 'chat', 'loop', 'child'),
      { type: 'invocation_yield', by: 'runtime', invocationId: 'run/chat', reason: 'input' },
      { type: 'invocation_yield', by: 'runtime', invocationId: 'run', reason: 'input' },
    ]);
    expect(validateResumeState(made.events)).toEqual({
      canResume: false,
      openRun: 'run',
      pendingCalls: [],
      awaitingInput: [{ invocationId: 'run/chat', name: 'chat' }],
    });
    const other = made.forkAt(made.events.length);
    other.append([start('run/other', 'other', 'sequence', 'child')]);
    other.addMessage('Hello', 'run/other');
    expect(validateResumeState(other.events).canResume).toBe(false);
    made.addMessage('Hello', 'run/chat');
    expect(validateResumeState(made.events)).toEqual({
      canResume: true,
      openRun: 'run',
      pendingCalls: [],
      awaitingInput: [],
    });
  });

  test('a session without an open run cannot be resumed', async () => {
    const made = await recorded();
    expect(validateResumeState(made.events)).toEqual({
      canResume: false,
      pendingCalls: [],
      awaitingInput: [],
    });
    expect(validateResumeState([])).toEqual({
      canResume: false,
      pendingCalls: [],
      awaitingInput: [],
    });
    expect(validateResumeState(made.events.slice(0, -1))).toMatchObject({
      canResume: true,
      openRun: 'run',
    });
  });
});
