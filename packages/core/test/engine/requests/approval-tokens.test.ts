import {
  type ApprovalKey,
  isAdjutantError,
  memoryStore,
  type Runtime,
  type RuntimeOptions,
  runtime,
  secret,
} from 'adjutant';
import { ApprovalTokenError } from 'adjutant/errors';
import { keptOpen, testClock } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { type PayToolOptions, payTool } from '../../pay-tool.ts';
import { caller } from './calling-agent.ts';

const key: ApprovalKey = { id: '2026-01', secret: secret('approvals', 'k'.repeat(32)) };

async function waitingRun(options: PayToolOptions = {}, more: Partial<RuntimeOptions> = {}) {
  const clock = testClock();
  const store = keptOpen(memoryStore({ clock }));
  const { pay, paid } = payTool(options);
  const runnable = caller(pay, { cents: 5 });
  const make = (other: Partial<RuntimeOptions> = {}): Runtime =>
    runtime({
      app: 'tokens',
      store,
      runnables: [runnable],
      recover: 'manual',
      ports: { clock },
      approvals: { keys: [key] },
      ...more,
      ...other,
    });
  const app = make();
  const first = await app.run(runnable, 'Pay');
  const requestId = first.pendingApprovals[0]?.requestId ?? '';
  return { app, make, clock, store, paid, requestId, session: first.session.id };
}

async function refusalOf(promise: Promise<unknown>): Promise<string> {
  const error: unknown = await promise.then(
    () => 'taken',
    (thrown: unknown) => thrown,
  );
  return error instanceof ApprovalTokenError
    ? error.reason
    : isAdjutantError(error)
      ? error.code
      : String(error);
}

/** Reasons for which the ledger says that tokens were refused. */
async function auditOf(app: Runtime, session: string): Promise<unknown[]> {
  await app.resume(session);
  const { events } = await app.sessions.open({ id: session });
  return events.flatMap((event) =>
    event.type === 'decision' && event.component === 'approval_token'
      ? [event.data?.['reason']]
      : [],
  );
}

describe('a token', () => {
  test('shows what it is for as often as one likes, and decides once', async () => {
    const { app, requestId, session, paid, store } = await waitingRun();
    const token = await app.requests.token(requestId);
    const before = await store.for({ tenant: 'default', app: 'tokens' }).head(session);
    for (let times = 0; times < 3; times++) {
      expect(await app.requests.show(token)).toMatchObject({
        request: { requestId, summary: 'pay({"cents":5})', status: 'pending' },
        decisions: ['approve', 'reject'],
      });
    }
    expect(await store.for({ tenant: 'default', app: 'tokens' }).head(session)).toEqual(before);
    await app.requests.decide(token, { decision: 'approve', by: 'ann', reason: 'by mail' });
    expect((await app.resume(session)).status).toBe('completed');
    expect(paid).toEqual([{ cents: 5 }]);
    expect(await refusalOf(app.requests.decide(token, { decision: 'approve' }))).toBe(
      'already_used',
    );
    expect(await refusalOf(app.requests.show(token))).toBe('already_used');
  });

  test('is taken by another process, after the keys have changed', async () => {
    const { app, make, requestId, session, paid } = await waitingRun();
    const token = await app.requests.token(requestId, { decisions: ['approve'] });
    const newer = { id: '2026-02', secret: 'n'.repeat(32) };
    expect(await refusalOf(make({ approvals: { keys: [newer] } }).requests.show(token))).toBe(
      'unknown_key',
    );
    await make({ approvals: { keys: [newer, key] } }).requests.decide(token, {
      decision: 'approve',
    });
    await make().resume(session);
    expect(paid).toHaveLength(1);
  });

  test('allows the edit that it was made for', async () => {
    const { app, requestId, session, paid } = await waitingRun();
    const token = await app.requests.token(requestId, { decisions: ['edit'] });
    expect(
      await refusalOf(app.requests.decide(token, { decision: 'edit', input: { cents: 'x' } })),
    ).toBe('input_mismatch');
    await app.requests.decide(token, { decision: 'edit', input: { cents: 2 } });
    await app.resume(session);
    expect(paid).toEqual([{ cents: 2 }]);
  });

  test('decides in the name that it was made for, if that one may', async () => {
    const { app, requestId } = await waitingRun({ approval: { mayDecide: ['ann'] } });
    expect(await refusalOf(app.requests.token(requestId, { by: 'bob' }))).toBe('may_not_decide');
    expect(
      await refusalOf(
        app.requests.decide(await app.requests.token(requestId), { decision: 'approve' }),
      ),
    ).toBe('may_not_decide');
    const token = await app.requests.token(requestId, { by: 'ann' });
    expect(await refusalOf(app.requests.decide(token, { decision: 'approve', by: 'bob' }))).toBe(
      'not_signed_for',
    );
    await app.requests.decide(token, { decision: 'approve' });
    expect(await app.requests.list()).toMatchObject([
      { status: 'answered', settledBy: 'user:ann' },
    ]);
  });
});

describe('is refused and written down', () => {
  test('when it is forged, altered, of unknown key or for something else', async () => {
    const { app, make, requestId, session, paid } = await waitingRun();
    const token = await app.requests.token(requestId, { decisions: ['reject'] });
    const forger = make({ approvals: { keys: [{ id: key.id, secret: 'f'.repeat(32) }] } });
    const stranger = make({ approvals: { keys: [{ id: 'x', secret: 'f'.repeat(32) }] } });
    const decide = (text: string): Promise<string> =>
      refusalOf(app.requests.decide(text, { decision: 'approve' }));
    // A flood of them does not fill the ledger.
    for (let times = 0; times < 5; times++) {
      expect(await decide(await forger.requests.token(requestId))).toBe('forged');
      expect(await decide(await stranger.requests.token(requestId))).toBe('unknown_key');
      expect(await decide(token)).toBe('not_signed_for');
      expect(await decide(`${token.slice(0, -4)}AAAA`)).toBe('forged');
      expect(await decide('nonsense')).toBe('malformed');
    }
    expect(await app.requests.listPendingApprovals()).toHaveLength(1);
    expect((await auditOf(app, session)).sort()).toEqual([
      'forged',
      'not_signed_for',
      'unknown_key',
    ]);
    expect(paid).toEqual([]);
  });

  test('when its time is over', async () => {
    const { app, clock, requestId, session } = await waitingRun();
    const token = await app.requests.token(requestId, { expiresAt: clock.now() + 1_000 });
    clock.advance(1_000);
    expect(await refusalOf(app.requests.decide(token, { decision: 'approve' }))).toBe('expired');
    expect(await auditOf(app, session)).toEqual(['expired']);
  });

  test('when its request is over, though the token is not', async () => {
    const { app, clock, requestId } = await waitingRun();
    const token = await app.requests.token(requestId, { expiresAt: clock.now() + 3_600_000 });
    clock.advance(30 * 60_000);
    expect(await refusalOf(app.requests.decide(token, { decision: 'approve' }))).toBe('expired');
  });

  test('when it was used', async () => {
    const { app, requestId, session } = await waitingRun();
    const token = await app.requests.token(requestId);
    await app.requests.decide(token, { decision: 'reject' });
    expect(await refusalOf(app.requests.decide(token, { decision: 'approve' }))).toBe(
      'already_used',
    );
    expect(await auditOf(app, session)).toEqual(['already_used']);
  });

  test('when something else is asked meanwhile', async () => {
    const { app, clock, requestId, session } = await waitingRun({
      approval: { onExpire: 'escalate', escalateTo: ['boss'] },
    });
    const token = await app.requests.token(requestId, { expiresAt: clock.now() + 3_600_000 });
    clock.advance(30 * 60_000);
    await app.resume(session);
    expect(await refusalOf(app.requests.decide(token, { decision: 'approve' }))).toBe('changed');
    expect(await auditOf(app, session)).toEqual(['changed']);
  });

  test('of a fork: the request of the original does not fit there', async () => {
    const { app, requestId, session } = await waitingRun();
    const token = await app.requests.token(requestId);
    const fork = await app.sessions.fork(session);
    const waiting = await app.resume(fork);
    const [own] = waiting.pendingApprovals;
    expect(own?.requestId).not.toBe(requestId);
    await app.requests.decide(token, { decision: 'approve' });
    expect(await app.requests.listPendingApprovals()).toMatchObject([
      { requestId: own?.requestId, session: fork.id },
    ]);
  });
});

test('of another tenant, a token is for nothing', async () => {
  const { app, requestId } = await waitingRun();
  const token = await app.requests.token(requestId);
  const { requests } = app.tenants.get('other');
  expect(await refusalOf(requests.show(token))).toBe('unknown_request');
  expect(await refusalOf(requests.decide(token, { decision: 'approve' }))).toBe('unknown_request');
});

test('tokens need keys, and cannot be made for what is not offered or settled', async () => {
  const { app, make, requestId } = await waitingRun({ approval: { allowEdit: false } });
  expect(await refusalOf(make({ approvals: undefined } as object).requests.token(requestId))).toBe(
    'invalid_runtime',
  );
  expect(await refusalOf(app.requests.token(requestId, { decisions: ['edit'] }))).toBe(
    'decision_not_offered',
  );
  expect(await refusalOf(app.requests.token('req_none'))).toBe('request_not_found');
  await app.requests.approve(requestId);
  expect(await refusalOf(app.requests.token(requestId))).toBe('request_settled');
  expect(() => make({ approvals: { keys: [{ id: 'a', secret: 'short' }] } })).toThrow(
    /at least 32 bytes/,
  );
  expect(() => make({ approvals: { keys: [{ id: 'a', secret: 'hunter2' }] } })).not.toThrow(
    /hunter2/,
  );
});
