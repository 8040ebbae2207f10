/**
 * A server is killed in the middle of an answer. Its successor goes on with the run, and the client
 * that listens notices no more than a pause.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serve } from '@adjutant/server';
import { client, noText, streamedText } from '@adjutant/server/client';
import { agent, runtime, tool } from 'adjutant';
import { sqlite } from 'adjutant/sqlite';
import { scriptedModel } from 'adjutant/testing';
import { z } from 'zod';

const answer =
  'Your order is paid for, packed, and on its way to you: it will be there tomorrow before noon.';

/**
 * The app that every process serves. On several machines: postgres('postgres://…') in the place of
 * the file, and pubsub: redis('redis://…').
 */
async function serveShop(folder: string, port: number): Promise<void> {
  const charge = tool({
    name: 'charge',
    description: 'Charges a card',
    schema: z.object({ cents: z.int() }),
    execute: ({ args }) => {
      appendFileSync(join(folder, 'effects.txt'), `charged ${args.cents}\n`);
      return { charged: args.cents };
    },
  });
  // With a real model: model: openai('gpt-5-mini')
  const model = scriptedModel((prompt) =>
    prompt.some(({ role }) => role === 'tool')
      ? { chunks: answer.match(/\S+\s*/g) ?? [], chunkDelayMs: 50 }
      : { toolCalls: [{ name: 'charge', args: { cents: 4_200 } }] },
  );
  const clerk = agent({ name: 'clerk', model, tools: [charge] });
  const app = runtime({ app: 'shop', store: sqlite(join(folder, 'shop.db')), runnables: [clerk] });
  const listening = await serve(app, { port, shutdown: { signals: true } });
  process.send?.(listening.port);
}

/** Starts a process. Resolves when it listens. */
async function startServer(
  folder: string,
  port = 0,
): Promise<{ readonly child: ChildProcess; readonly port: number }> {
  const child = fork(import.meta.filename, [folder, String(port)]);
  const [listening] = (await once(child, 'message')) as [number];
  return { child, port: listening };
}

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'adjutant-example-'));
  const first = await startServer(folder);
  let second: Awaited<ReturnType<typeof startServer>> | undefined;

  const shop = client({
    url: `http://127.0.0.1:${first.port}`,
    retry: { initialDelayMs: 50, maxDelayMs: 200 },
  });
  const run = shop.runs.start({ agent: 'clerk', input: 'Carry out order 17' });
  const { session } = await run.accepted();

  const seqs: number[] = [];
  let texts = noText;
  let text: string | undefined;
  for await (const event of run) {
    if ('seq' in event) seqs.push(event.seq);
    texts = streamedText(texts, event);
    text = texts.get(event.invocationId ?? '')?.text;
    if (event.type !== 'assistant_delta' || second !== undefined) continue;
    console.log(`killed after “${text}”`);
    first.child.kill('SIGKILL');
    await once(first.child, 'exit');
    // At the same address, as behind a load balancer. The iteration goes on by itself.
    second = await startServer(folder, first.port);
  }
  console.log(`then: “${text}”`);
  assert.equal(text, answer);

  const ledger: number[] = [];
  for await (const { seq } of shop.sessions.events(session)) ledger.push(seq);
  assert.deepEqual(seqs, ledger, 'each event came once, and in order');
  assert.equal((await run).output, answer);
  assert.equal(
    readFileSync(join(folder, 'effects.txt'), 'utf8'),
    'charged 4200\n',
    'the card was charged once',
  );

  second?.child.kill('SIGTERM');
  if (second !== undefined) assert.deepEqual(await once(second.child, 'exit'), [null, 'SIGTERM']);
  rmSync(folder, { recursive: true });
}

const [, , folder, port] = process.argv;
await (folder === undefined ? main() : serveShop(folder, Number(port)));
