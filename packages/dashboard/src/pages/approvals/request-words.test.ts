import type { ServerRequest } from '@adjutant/server/client';
import { expect, test } from 'vitest';
import type { Me } from '../../api/me.ts';
import {
  actorOf,
  batchOutcome,
  editOf,
  hasText,
  isMine,
  personOf,
  soonestFirst,
  unlessAll,
  unlessAnswerable,
} from './request-words.ts';

function me(changed: Partial<Me> = {}): Me {
  return {
    id: 'jwt:cfo',
    tenant: 'default',
    app: 'desk',
    roles: ['operator'],
    permissions: ['read', 'chat', 'operate'],
    isLocal: false,
    version: '0.1.0',
    store: { kind: 'memory' },
    ...changed,
  };
}

function request(changed: Partial<ServerRequest> = {}): ServerRequest {
  return {
    requestId: 'req_1',
    session: 'customer-7',
    invocationId: 'run_1',
    callId: 'run_1/r1.0',
    kind: 'approval',
    agent: 'clerk',
    name: 'refund',
    summary: 'Refund 90 €',
    options: ['approve', 'edit', 'reject'],
    createdAt: 0,
    status: 'pending',
    ...changed,
  };
}

test('The reader decides in the name that the server records', () => {
  expect(actorOf(me())).toBe('operator:cfo');
  expect(actorOf(me({ id: 'key:7k3m' }))).toBe('operator:key:7k3m');
  expect(actorOf(me({ user: 'ann' }))).toBe('user:ann');
  expect(actorOf(me({ id: 'local', isLocal: true }))).toBe('operator');
});

test('A request is of those whom it names; without names of anybody', () => {
  expect(isMine(me(), request())).toBe(true);
  expect(isMine(me(), request({ mayDecide: ['operator:cfo'] }))).toBe(true);
  // A name without a kind is that of a user, and never of an operator.
  expect(isMine(me(), request({ mayDecide: ['cfo'] }))).toBe(false);
  expect(isMine(me({ user: 'cfo' }), request({ mayDecide: ['cfo'] }))).toBe(true);
});

test('What cannot be answered says why', () => {
  const now = 1_000;
  expect(unlessAnswerable(me(), request(), now)).toBeUndefined();
  expect(unlessAnswerable(me(), request({ status: 'answered' }), now)).toBe('It is settled.');
  expect(unlessAnswerable(me(), request({ expiresAt: 1_000 }), now)).toBe('Its time is over.');
  const viewer = me({ roles: ['viewer'], permissions: ['read'] });
  expect(unlessAnswerable(viewer, request(), now)).toBe(
    'Your key is a viewer’s. Approving takes an operator.',
  );
  const others = request({ mayDecide: ['ann', 'operator:ceo'] });
  expect(unlessAnswerable(me(), others, now)).toBe('Only ann, ceo may decide.');
});

test('Those whose time ends first come first', () => {
  const requests = [
    request({ requestId: 'none' }),
    request({ requestId: 'late', expiresAt: 9 }),
    request({ requestId: 'soon', expiresAt: 5 }),
    request({ requestId: 'older', createdAt: -1 }),
  ];
  expect(soonestFirst(requests).map(({ requestId }) => requestId)).toEqual([
    'soon',
    'late',
    'older',
    'none',
  ]);
});

test('Requests are found by what people see of them', () => {
  expect(hasText(request(), ' REFUND 90')).toBe(true);
  expect(hasText(request(), 'customer-7')).toBe(true);
  expect(hasText(request(), 'mail')).toBe(false);
});

test('Each kind of request takes its own answer', () => {
  expect(editOf(request())?.decision).toBe('edit');
  expect(editOf(request({ kind: 'input', options: ['answer', 'reject'] }))).toEqual({
    decision: 'answer',
    schema: {},
  });
  expect(editOf(request({ kind: 'limit', options: ['continue', 'reject'] }))?.decision).toBe(
    'continue',
  );
  expect(editOf(request({ kind: 'repeat', options: ['approve', 'reject'] }))).toBeUndefined();
});

test('Several are answered at once only by what all of them offer', () => {
  const question = request({ summary: 'A colour', options: ['answer', 'reject'] });
  expect(unlessAll([request(), question], 'reject')).toBeUndefined();
  expect(unlessAll([request(), question], 'approve')).toBe(
    '“A colour” cannot be answered by “Approve”.',
  );
});

test('People are named without the kind of their actor', () => {
  expect(personOf('operator:ann')).toBe('ann');
  expect(personOf('operator')).toBe('operator');
  expect(personOf('runtime')).toBe('runtime');
});

test('one decision for several says how many it was made for, and why not for others', () => {
  expect(batchOutcome('approve', [{ accepted: true }, { accepted: true }])).toEqual({
    text: 'Approved: 2 requests.',
  });
  const refused = { accepted: false, problem: { detail: 'It was answered by ann.' } } as const;
  expect(batchOutcome('reject', [{ accepted: true }, refused])).toEqual({
    text: 'Rejected: 1 of 2 requests. Not answered: 1. It was answered by ann.',
    isFailure: true,
  });
});
