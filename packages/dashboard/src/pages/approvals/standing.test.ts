import type { ServerRequest } from '@adjutant/server/client';
import { expect, test } from 'vitest';
import { standingChoices, standingWords } from './standing.ts';

const request: ServerRequest = {
  requestId: 'req_1',
  session: 'customer-7',
  invocationId: 'run_1',
  callId: 'run_1/r1.0',
  kind: 'approval',
  agent: 'clerk',
  name: 'save',
  summary: 'Save',
  options: ['approve', 'edit', 'reject'],
  createdAt: 0,
  status: 'pending',
};
const asked = { seq: 4, args: { path: 'src/notes/a.md' } };

test('an approval may hold for equal calls, for all, and for those below a folder', () => {
  expect(standingChoices(request, asked).map(({ always }) => always)).toEqual([
    'call',
    'tool',
    { below: 'src/notes' },
  ]);
  expect(standingChoices(request, { seq: 4, args: { to: 'ann' } })).toHaveLength(2);
  expect(standingChoices(request, { seq: 4, args: { path: '../a/b' } })).toHaveLength(2);
});

test('where each call is asked about, none is offered', () => {
  for (const changed of [
    { kind: 'input' },
    { options: ['reject'] },
    { mayDecide: ['user:ann'] },
    { callId: 'run_1' },
  ] as const)
    expect(standingChoices({ ...request, ...changed } as ServerRequest, asked)).toEqual([]);
  expect(standingChoices(request, undefined)).toEqual([]);
  expect(standingChoices(request, { ...asked, request: { destructive: true } })).toEqual([]);
});

test('approvals that hold are told in words', () => {
  expect(standingWords({ tool: 'save', covers: 'call' })).toBe('equal calls of save');
  expect(standingWords({ tool: 'save', covers: 'tool' })).toBe('every call of save');
  expect(standingWords({ tool: 'save', covers: { below: 'src/' } })).toBe(
    'every call of save below src/',
  );
});
