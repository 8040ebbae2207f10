import { describe, expect, it } from 'vitest';
import { type Event, type EventDraft, foldEvent, type InvocationMode } from '../ledger/event.ts';
import { emptyInvocationTree, invocationFold } from '../ledger/folds/invocation-fold.ts';
import type { ToolResult } from '../ledger/tool-result.ts';
import type { LedgerView } from './history.ts';
import { priorEvidence } from './prior-evidence.ts';

const yes: ToolResult = { status: 'success', content: 'yes' };

function begin(
  invocationId: string,
  name: string,
  mode: InvocationMode = 'root',
  more: { branch?: true; kind?: 'agent' | 'parallel' } = {},
): EventDraft {
  return {
    type: 'invocation_start',
    by: 'runtime',
    invocationId,
    kind: 'agent',
    name,
    mode,
    ...more,
  };
}
const end = (invocationId: string): EventDraft => ({
  type: 'invocation_end',
  by: 'runtime',
  invocationId,
  status: 'completed',
});
const says = (invocationId: string): EventDraft => ({
  type: 'user',
  by: 'user',
  invocationId,
  text: 'Go',
});

/** Returns a call and its result. */
function calls(
  invocationId: string,
  round: number,
  args: number,
  result: ToolResult = yes,
  more: { settled?: boolean; late?: boolean } = {},
): EventDraft[] {
  const callId = `${invocationId}/r${round}.0`;
  return [
    {
      type: 'tool_call',
      by: 'model',
      invocationId,
      callId,
      agent: 'any',
      name: 'look',
      args,
      providerCallId: callId,
      round,
      index: 0,
    },
    {
      type: 'tool_result',
      by: 'tool',
      invocationId,
      callId,
      name: 'look',
      attempt: 1,
      result,
      settled: true,
      durationMs: 0,
      ...more,
    },
  ];
}

function viewOf(drafts: readonly EventDraft[]): LedgerView {
  const events = drafts.map(
    (draft, i) => ({ ...draft, v: 1, seq: i + 1, id: `e${i + 1}`, at: i }) as Event,
  );
  const invocations = emptyInvocationTree();
  for (const event of events) foldEvent(invocationFold, invocations, event);
  return { events, invocations };
}

function priorArgs(
  drafts: readonly EventDraft[],
  path: string,
  agent = 'Ada',
  limit = 30,
): readonly (readonly [unknown, number])[] {
  return priorEvidence(viewOf(drafts), path, agent, limit, (event) => event).map(
    ({ args, turn }) => [args, turn],
  );
}

const run = (path: string, name: string, ...inside: readonly EventDraft[]): EventDraft[] => [
  begin(path, name),
  says(path),
  ...inside,
  end(path),
];

describe('priorEvidence', () => {
  it(
    'gives the calls of earlier runs of the agent, oldest first, and how many messages ago ' +
      'they were',
    () => {
      const drafts = [
        ...run('a', 'Ada', ...calls('a', 1, 1), ...calls('a', 2, 2)),
        ...run('b', 'Bob', ...calls('b', 1, 3)),
        ...run('c', 'Ada', ...calls('c', 1, 4)),
        begin('d', 'Ada'),
        says('d'),
      ];
      expect(priorArgs(drafts, 'd')).toEqual([
        [1, -3],
        [2, -3],
        [4, -1],
      ]);
      expect(priorArgs(drafts, 'd', 'Bob')).toEqual([[3, -2]]);
      expect(priorArgs(drafts, 'a')).toEqual([]);
      expect(priorArgs(drafts, 'missing')).toEqual([]);
    },
  );

  it(
    'gives the newest when there are more than wanted, in the order of the calls, whatever ' +
      'the order of their results',
    () => {
      const [first, firstResult] = calls('a', 1, 1) as [EventDraft, EventDraft];
      const [second, secondResult] = calls('a', 2, 2) as [EventDraft, EventDraft];
      const drafts = [
        ...run('a', 'Ada', first, second, secondResult, firstResult, ...calls('a', 3, 3)),
        begin('b', 'Ada'),
      ];
      expect(priorArgs(drafts, 'b').map(([args]) => args)).toEqual([1, 2, 3]);
      expect(priorArgs(drafts, 'b', 'Ada', 2).map(([args]) => args)).toEqual([1, 3]);
      expect(priorArgs(drafts, 'b', 'Ada', 0)).toEqual([]);
    },
  );

  it(
    'leaves out what does not count: vetoes, attempts that were made again, late results, ' +
      'calls without a result, effects',
    () => {
      const veto: ToolResult = { status: 'error_blocked', content: '', errorType: 'loop_blocked' };
      const open = calls('a', 5, 5)[0] as EventDraft;
      const effect = { ...(calls('a', 6, 6)[1] as object), callId: 'a/+send' } as EventDraft;
      const inside = [
        ...calls('a', 1, 1, veto),
        ...calls('a', 2, 2, yes, { settled: false }),
        ...calls('a', 3, 3, yes, { late: true }),
        ...calls('a', 4, 4),
        open,
        effect,
      ];
      expect(priorArgs([...run('a', 'Ada', ...inside), begin('b', 'Ada')], 'b')).toEqual([[4, -1]]);
      expect(priorArgs([...run('a', 'Ada', ...inside), begin('b', 'Ada')], 'b', 'Ada', 1)).toEqual([
        [4, -1],
      ]);
    },
  );

  it('looks no further back than it must', () => {
    const { events, invocations } = viewOf([
      ...run('a', 'Ada', ...calls('a', 1, 1), ...calls('a', 2, 2)),
      begin('b', 'Ada'),
    ]);
    const cut = events.slice();
    // Reading these would fail.
    for (const i of [0, 1, 2, 3]) delete (cut as unknown[])[i];
    const found = priorEvidence({ events: cut, invocations }, 'b', 'Ada', 1, (event) => event);
    expect(found.map(({ args }) => args)).toEqual([2]);
  });

  it('sees nothing of branches beside it, and nothing that began before it and goes on', () => {
    const branches = [
      begin('a', 'both', 'root', { kind: 'parallel' }),
      begin('a/x', 'Ada', 'child', { branch: true }),
      ...calls('a/x', 1, 1),
      end('a/x'),
      begin('a/y', 'Ada', 'child', { branch: true }),
    ];
    expect(priorArgs(branches, 'a/y')).toEqual([]);
    expect(
      priorArgs(
        [begin('a', 'Ada'), ...calls('a', 1, 1), begin('a/r1.0/b', 'Ada', 'call')],
        'a/r1.0/b',
      ),
    ).toEqual([]);
  });

  it(
    'goes on in the same turn after a hand-over, and in a new one when the code around ' +
      'starts the agent again',
    () => {
      const handed = [
        begin('a', 'Ada'),
        says('a'),
        ...calls('a', 1, 1),
        end('a'),
        begin('a>Bob', 'Bob', 'transfer'),
        end('a>Bob'),
        begin('a>Bob>Ada', 'Ada', 'transfer'),
      ];
      expect(priorArgs(handed, 'a>Bob>Ada')).toEqual([[1, 0]]);
      const again = [
        begin('a', 'all'),
        begin('a/Ada', 'Ada', 'child'),
        ...calls('a/Ada', 1, 1),
        end('a/Ada'),
        begin('a/Ada#2', 'Ada', 'child'),
      ];
      expect(priorArgs(again, 'a/Ada#2')).toEqual([[1, -1]]);
    },
  );

  it('puts large values in the place of their references, of what it gives only', () => {
    const drafts = [
      ...run('a', 'Ada', ...calls('a', 1, 1)),
      ...run('b', 'Bob', ...calls('b', 1, 2)),
      begin('c', 'Ada'),
    ];
    const loaded: string[] = [];
    const whole = (event: Event): Event => {
      loaded.push(`${event.type} ${event.invocationId}`);
      return event.type === 'tool_call' ? { ...event, args: 'large' } : event;
    };
    expect(priorEvidence(viewOf(drafts), 'c', 'Ada', 30, whole)).toEqual([
      { name: 'look', args: 'large', result: yes, turn: -2 },
    ]);
    expect(loaded).toEqual(['tool_result a', 'tool_call a']);
  });
});
