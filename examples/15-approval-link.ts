/**
 * An approval by a link in an e-mail. GET shows what is asked and decides nothing, so that whatever
 * follows links by itself does no harm; POST decides, once. The process that serves the link has
 * nothing but the store and the key.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { agent, isAdjutantError, runtime, tool } from 'adjutant';
import { sqlite } from 'adjutant/sqlite';
import { scriptedModel } from 'adjutant/testing';
import { z } from 'zod';

const folder = mkdtempSync(join(tmpdir(), 'adjutant-example-'));
const refunded: number[] = [];

function openShop() {
  const refund = tool({
    name: 'refund',
    description: 'Gives a customer money back',
    schema: z.object({ order: z.string(), cents: z.int() }),
    approval: {
      when: (ctx) => ctx.args.cents > 5_000,
      summary: (ctx) => `Refund ${(ctx.args.cents / 100).toFixed(2)} € for order ${ctx.args.order}`,
      mayDecide: ['ann'],
      expiresInMs: 48 * 3_600_000,
    },
    execute: (ctx) => {
      refunded.push(ctx.args.cents);
      return { refunded: ctx.args.cents };
    },
  });
  const clerk = agent({
    name: 'clerk',
    // With a real model: model: openai('gpt-5-mini')
    model: scriptedModel((prompt) =>
      prompt.some(({ role }) => role === 'tool')
        ? { text: 'Order 17 is refunded.' }
        : { toolCalls: [{ name: 'refund', args: { order: '17', cents: 8_900 } }] },
    ),
    tools: [refund],
  });
  const app = runtime({
    app: 'shop',
    store: sqlite(join(folder, 'shop.db')),
    runnables: [clerk],
    recover: 'manual',
    // Of several keys the first one signs and all are known: put a new key in front, and take the
    // old one out when its links are over.
    approvals: {
      keys: [{ id: '2026-11', secret: 'a-secret-of-at-least-32-bytes-from-your-vault' }],
    },
  });
  return { app, clerk };
}

// The run asks, a mail goes out, and the process ends.
const shop = openShop();
const waiting = await shop.app.run(shop.clerk, {
  session: 'order-17',
  input: 'The customer of order 17 wants the money back',
});
assert.equal(waiting.status, 'yielded');
const [request] = await shop.app.requests.listPendingApprovals();
assert.ok(request);
const token = await shop.app.requests.token(request.requestId, { by: 'ann' });
await shop.app.close();

// The web server, another process in earnest.
const { app } = openShop();
const page = createServer(async (message, response) => {
  const { pathname, searchParams } = new URL(message.url ?? '/', 'http://localhost');
  const given = decodeURIComponent(pathname.slice(1));
  const reply = (status: number, text: string): void =>
    void response
      .writeHead(status, { 'content-type': 'text/plain', 'referrer-policy': 'no-referrer' })
      .end(text);
  try {
    if (message.method !== 'POST') {
      const { request: asked, decisions } = await app.requests.show(given);
      return reply(200, `${asked.summary}? ${decisions.join(' or ')}`);
    }
    const decision = searchParams.get('decision') === 'approve' ? 'approve' : 'reject';
    await app.requests.decide(given, { decision });
    return reply(200, `${decision}: thank you`);
  } catch (error) {
    if (!isAdjutantError(error, 'approval_token')) return reply(500, 'Something went wrong');
    return reply(403, error.message);
  }
});
await new Promise<void>((resolve) => page.listen(0, '127.0.0.1', resolve));
const address = `http://127.0.0.1:${(page.address() as AddressInfo).port}`;

async function visit(
  method: 'GET' | 'POST',
  link: string,
): Promise<{ status: number; text: string }> {
  const response = await fetch(`${address}/${link}`, { method });
  const visited = { status: response.status, text: await response.text() };
  console.log(method, visited.status, visited.text);
  return visited;
}

// The mail scanner and the reader look at it, as often as they like.
for (let looks = 0; looks < 2; looks++) {
  assert.deepEqual(await visit('GET', token), {
    status: 200,
    text: 'Refund 89.00 € for order 17? approve or reject',
  });
}

// A link that somebody has altered decides nothing: here one that asks for another order.
const [version, claims = '', signature] = token.split('.');
const altered = Buffer.from(
  Buffer.from(claims, 'base64url').toString().replace('order-17', 'order-99'),
).toString('base64url');
assert.equal(
  (await visit('POST', `${[version, altered, signature].join('.')}?decision=approve`)).status,
  403,
);
assert.equal((await visit('POST', 'made-up?decision=approve')).status, 403);

assert.deepEqual(await visit('POST', `${token}?decision=approve`), {
  status: 200,
  text: 'approve: thank you',
});
// It has been used.
assert.equal((await visit('POST', `${token}?decision=reject`)).status, 403);
assert.equal((await visit('GET', token)).status, 403);

const { result } = await app.advance('order-17');
console.log(result?.output);
assert.equal(result?.output, 'Order 17 is refunded.');
assert.deepEqual(refunded, [8_900]);
const decided = result.session.events.find((event) => event.type === 'tool_input');
assert.deepEqual([decided?.by, decided?.decision], ['user:ann', 'approve']);
// The attempt is in the ledger, too.
const refused = result.session.events.flatMap((event) =>
  event.type === 'decision' && event.component === 'approval_token' ? [event.data?.['reason']] : [],
);
console.log('refused tokens:', refused);
assert.deepEqual(refused, ['forged', 'already_used']);

await new Promise((resolve) => page.close(resolve));
await app.close();
rmSync(folder, { recursive: true });
