/**
 * A process is killed in the middle of a round of tools. Another one continues: what was done is
 * not done again.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { agent, runtime, tool } from 'adjutant';
import { sqlite } from 'adjutant/sqlite';
import { scriptedModel } from 'adjutant/testing';
import { z } from 'zod';

/** Definitions of both processes: the same definitions under the same names, and the same file. */
function openShop(folder: string, isFirst: boolean) {
  const note = (line: string): void => appendFileSync(join(folder, 'effects.txt'), `${line}\n`);
  // Nobody knows whether a charge that was cut off took effect, so it is not made again unasked:
  // the default.
  const charge = tool({
    name: 'charge',
    description: 'Charges a card',
    schema: z.object({ cents: z.int() }),
    execute: (ctx) => {
      note(`charged ${ctx.args.cents}`);
      return { charged: ctx.args.cents };
    },
  });
  // Packing the same parcel twice is packing it once, so an attempt that was cut off is made again.
  const pack = tool({
    name: 'pack',
    description: 'Packs a parcel',
    schema: z.object({ order: z.string() }),
    idempotent: true,
    execute: async (ctx) => {
      note(`packing ${ctx.args.order}`);
      if (isFirst) await new Promise(() => setInterval(() => undefined, 1_000));
      return { packed: ctx.args.order };
    },
  });
  const clerk = agent({
    name: 'clerk',
    // With a real model: model: openai('gpt-5-mini')
    model: scriptedModel((prompt) =>
      prompt.some(({ role }) => role === 'tool')
        ? { text: 'Order 17 is paid and packed.' }
        : {
            toolCalls: [
              { name: 'charge', args: { cents: 4_200 } },
              { name: 'pack', args: { order: '17' } },
            ],
          },
    ),
    tools: [charge, pack],
  });
  // With `recover: 'auto'`, the default, the second process would begin by itself.
  return {
    clerk,
    app: runtime({
      app: 'shop',
      store: sqlite(join(folder, 'shop.db')),
      runnables: [clerk],
      recover: 'manual',
    }),
  };
}

/** The process that will be killed. */
async function serve(folder: string): Promise<void> {
  const { app, clerk } = openShop(folder, true);
  // Streamed events are durable.
  for await (const event of app.run(clerk, { session: 'order-17', input: 'Carry out order 17' })) {
    if (event.type === 'tool_result') console.log(event.name);
  }
}

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'adjutant-example-'));
  const child = spawn(process.execPath, [...process.execArgv, import.meta.filename, folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<NodeJS.Signals | null>((resolve) =>
    child.on('close', (_code, signal) => resolve(signal)),
  );
  for await (const line of createInterface({ input: child.stdout }))
    if (line === 'charge') child.kill('SIGKILL');
  assert.equal(await ended, 'SIGKILL');

  const { app } = openShop(folder, false);
  const runs = await app.recovery.resumeStopped();
  console.log(`${runs.length} run to continue`);
  const [result] = await Promise.all(runs);
  console.log(result?.status, result?.output);
  assert.equal(result?.output, 'Order 17 is paid and packed.');

  const effects = readFileSync(join(folder, 'effects.txt'), 'utf8').trim().split('\n');
  console.log(effects);
  assert.equal(
    effects.filter((line) => line === 'charged 4200').length,
    1,
    'the card was charged once',
  );
  assert.equal(
    effects.filter((line) => line === 'packing 17').length,
    2,
    'packing was cut off, and done again',
  );
  const { events } = result.session;
  assert.deepEqual(
    events.map(({ seq }) => seq),
    events.map((_, index) => index + 1),
    'the ledger has no gap',
  );
  await app.close();
  rmSync(folder, { recursive: true });
}

const [folder] = process.argv.slice(2);
await (folder === undefined ? main() : serve(folder));
