import { type LedgerStore, memoryStore } from 'adjutant';
import { expect, test } from 'vitest';
import { send, waitingServer } from '../approvals/paying-app.ts';

async function keptTexts(ledgers: LedgerStore): Promise<string> {
  const texts: string[] = [];
  for (const { id } of await ledgers.list({ order: 'createdAt', limit: 100 })) {
    for await (const page of ledgers.read(id)) texts.push(JSON.stringify(page));
  }
  return texts.join('\n');
}

test.each(['', '?erase=true'])(
  'A5: what was answered about a session is gone with it, also what is kept for an Idempotency-Key (DELETE%s)',
  async (how) => {
    const store = memoryStore();
    const { api, app, requestId } = await waitingServer({
      store,
      summary: 'Pay the secret account',
      payments: [{ cents: 5, to: 'the secret account' }],
    });
    const answers = store.for({ tenant: app.tenant, app: `${app.app}:http` });
    const keyed = { 'idempotency-key': 'k' };
    const approve = () => send(api, 'POST', `/v1/approvals/${requestId}`, { decision: 'approve' }, keyed);

    const first = await approve();

    expect(await keptTexts(answers)).toContain('secret account');
    const { session } = first.body;
    expect((await send(api, 'DELETE', `/v1/sessions/${session}${how}`)).status).toBe(204);

    expect(await keptTexts(answers)).not.toContain('secret account');
    const again = await approve();
    expect(again.status).toBe(404);
    expect(again.text).not.toContain('secret account');
  },
);
