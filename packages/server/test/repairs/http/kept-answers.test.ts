import { memoryStore } from 'adjutant';
import type { LedgerStore } from 'adjutant/store';
import { expect, test } from 'vitest';
import { send, waitingServer } from '../../approvals/paying-app.ts';

async function keptTexts(ledgers: LedgerStore): Promise<string> {
  const texts: string[] = [];
  for (const { id } of await ledgers.list({ order: 'createdAt', limit: 100 })) {
    for await (const page of ledgers.read(id)) texts.push(JSON.stringify(page));
  }
  return texts.join('\n');
}

test.each(['', '?erase=true'])(
  'A5: what was answered about a session is gone with it, also what is kept for an ' +
    'Idempotency-Key (DELETE%s)',
  async (how) => {
    const store = memoryStore();
    const { api, app, requestId } = await waitingServer({
      store,
      summary: 'Pay the secret account',
      payments: [{ cents: 5, to: 'the secret account' }],
    });
    const answers = store.for({ tenant: app.tenant, app: `${app.app}:http` });
    const keyed = { 'idempotency-key': 'k' };
    const approve = () =>
      send(api, 'POST', `/v1/approvals/${requestId}`, { decision: 'approve' }, keyed);

    const first = await approve();

    expect(await keptTexts(answers)).toContain('secret account');
    const { session } = first.body;
    expect((await send(api, 'DELETE', `/v1/sessions/${session}${how}`)).status).toBe(204);

    expect(await keptTexts(answers)).not.toContain('secret account');
    const again = await approve();
    expect([again.status, again.body.code]).toEqual([410, 'idempotency_answer_deleted']);
    expect(again.text).not.toContain('secret account');
  },
);

const calls = [
  {
    what: 'a run in a new session',
    path: () => '/v1/runs',
    body: { agent: 'payer', input: 'Pay' },
  },
  {
    what: 'a run in the session',
    path: (session: string) => `/v1/sessions/${session}/runs`,
    body: { agent: 'payer', input: 'Pay' },
  },
  {
    what: 'a message',
    path: (session: string) => `/v1/sessions/${session}/messages`,
    body: { text: 'Hello' },
  },
];

test.each(calls)(
  'A5: a repeated request for $what is not carried out again when its session was deleted',
  async ({ path, body }) => {
    const { api, session } = await waitingServer({});
    const keyed = { 'idempotency-key': 'k' };
    const first = await send(api, 'POST', path(session), body, keyed);
    expect(first.status).toBeLessThan(300);
    const made = first.body.session ?? session;
    expect((await send(api, 'DELETE', `/v1/sessions/${made}`)).status).toBe(204);
    for (let i = 0; i < 2; i++) {
      const again = await send(api, 'POST', path(session), body, keyed);
      expect([again.status, again.body.code]).toEqual([410, 'idempotency_answer_deleted']);
    }
    const { body: left } = await send(api, 'GET', '/v1/sessions');
    expect(
      (left as unknown as { sessions: { id: string }[] }).sessions.map(({ id }) => id),
    ).toEqual(made === session ? [] : [session]);
    // Another request under the key is still told apart.
    expect(
      (await send(api, 'POST', '/v1/runs', { agent: 'payer', input: 'Other' }, keyed)).status,
    ).toBe(422);
  },
);
