/**
 * A session in a SQLite file: one process begins a run and stops, another one reads it and finishes
 * it.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { agent, runtime, tool } from 'adjutant';
import { sqlite } from 'adjutant/sqlite';
import { type ScriptedResponse, scriptedModel } from 'adjutant/testing';
import { transcript } from 'adjutant/views';
import { z } from 'zod';

const folder = mkdtempSync(join(tmpdir(), 'adjutant-example-'));
const charged: string[] = [];

/** Definitions of both processes: the same definitions under the same names, and the same file. */
function openApp(responses: readonly ScriptedResponse[]) {
  const charge = tool({
    name: 'charge',
    description: 'Charges a card',
    schema: z.object({ cents: z.int() }),
    execute: (ctx) => {
      charged.push(ctx.idempotencyKey);
      return { charged: ctx.args.cents };
    },
  });
  // With a real model: model: openai('gpt-5-mini')
  const cashier = agent({ name: 'cashier', model: scriptedModel(responses), tools: [charge] });
  return {
    app: runtime({ app: 'shop', store: sqlite(join(folder, 'shop.db')), runnables: [cashier] }),
    cashier,
  };
}

// The first process is stopped when the card has been charged, while the model thinks about its
// answer.
const first = openApp([
  { toolCalls: [{ name: 'charge', args: { cents: 4_200 } }] },
  { text: 'never heard', delayMs: 60_000 },
]);
const running = first.app.run(first.cashier, { session: 'order-17', input: 'Pay order 17' });
for await (const event of running) if (event.type === 'tool_result') break;
running.stop();
await assert.rejects(async () => await running, { code: 'run_stopped' });
await first.app.close();

// The second process has nothing but the file.
const second = openApp([{ text: 'Order 17 is paid.' }]);
const read = await second.app.sessions.open({ id: 'order-17' });
console.log(`read ${read.events.length} events; status ${read.status}`);
assert.equal(read.status, 'active');

const result = await second.app.resume('order-17');
for (const entry of transcript(result.session.events))
  console.log(entry.kind, 'text' in entry ? entry.text : entry.name);

assert.equal(result.output, 'Order 17 is paid.');
assert.equal(result.toolCalls.length, 1);
assert.equal(charged.length, 1, 'the card was charged once');
await second.app.close();
rmSync(folder, { recursive: true });
