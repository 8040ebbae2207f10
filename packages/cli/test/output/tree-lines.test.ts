import type { RunTreeNode } from 'adjutant/views';
import { expect, test } from 'vitest';
import type { Style } from '../../src/output/style.ts';
import { treeLines } from '../../src/output/tree-lines.ts';

const as = (text: string): string => text;
const plain: Style = { bold: as, dim: as, red: as, green: as, yellow: as, cyan: as };

const node: RunTreeNode = {
  seq: 1,
  path: 'run',
  kind: 'sequence',
  name: 'all',
  mode: 'root',
  status: 'completed',
  durationMs: 65_000,
  waitingMs: 60_000,
  selfMs: 20,
  tokens: 1_500,
  selfTokens: 0,
  cost: 0.012,
  selfCost: undefined,
  modelCalls: [],
  toolCalls: [],
  children: [],
};

test('a part tells what it took, itself and with those below, and how long it waited', () => {
  const child: RunTreeNode = {
    ...{
      ...node,
      seq: 4,
      path: 'run/clerk\u001b[2J',
      name: 'clerk\nx',
      kind: 'agent',
      status: 'error',
      selfTokens: 1_000,
      selfCost: 0.01,
    },
    modelCalls: [
      {
        seq: 5,
        model: 'openai:gpt-5',
        round: 1,
        attempt: 1,
        status: 'error',
        durationMs: 900,
        tokens: 0,
        cost: undefined,
      },
      {
        seq: 6,
        model: 'openai:gpt-5',
        round: 1,
        attempt: 2,
        status: 'completed',
        durationMs: 1_200,
        tokens: 1_000,
        cost: 0.01,
      },
      {
        seq: 10,
        model: 'openai:gpt-5',
        round: 2,
        attempt: 1,
        status: 'open',
        durationMs: 0,
        tokens: 0,
        cost: undefined,
      },
    ],
    toolCalls: [
      {
        seq: 7,
        callId: 'a',
        name: 'refund',
        success: true,
        status: 'success',
        durationMs: 20,
        waitingMs: 60_000,
        attempts: 1,
      },
      {
        seq: 8,
        callId: 'b',
        name: 'look',
        success: false,
        status: 'timeout',
        durationMs: 30_000,
        waitingMs: 0,
        attempts: 3,
      },
      {
        seq: 12,
        callId: 'c',
        name: 'ask',
        success: false,
        status: undefined,
        durationMs: 0,
        waitingMs: 0,
        attempts: 0,
      },
    ],
    children: [
      {
        ...node,
        seq: 9,
        path: 'run/clerk/r1.0/inner',
        name: 'inner',
        kind: 'step',
        status: 'open',
        tokens: 500,
        cost: undefined,
      },
    ],
  };
  expect(treeLines(plain, [{ ...node, children: [child] }])).toEqual([
    '● all sequence completed (1 min 05 s, itself 20 ms, waited 1 min 00 s · 1,500 tokens ' +
      '· $0.012) run',
    '  ● clerk x agent error (1 min 05 s, itself 20 ms, waited 1 min 00 s · 1,500 tokens, ' +
      'itself 1,000 · $0.012, itself $0.01) run/clerk\\u001b[2J',
    '    ◆ openai:gpt-5 round 1 error (900 ms · 0 tokens)',
    '    ◆ openai:gpt-5 round 1, attempt 2 (1.2 s · 1,000 tokens · $0.01)',
    '    ✓ refund (20 ms, waited 1 min 00 s)',
    '    ✗ look (30.0 s · 3 attempts · timeout)',
    '    ○ inner step open (1 min 05 s, waited 1 min 00 s · 500 tokens) run/clerk/r1.0/inner',
    '    ◇ openai:gpt-5 round 2 open',
    '    … ask (0 ms)',
  ]);
});

test('nothing is nothing', () => {
  expect(treeLines(plain, [])).toEqual([]);
});
