/** The server of the reconnect test, in a process of its own, so that its memory is its own. */
import { setImmediate as turn } from 'node:timers/promises';
import { runtime } from 'adjutant';
import { sqlite } from 'adjutant/sqlite';
import { serve } from '../../src/serve.ts';
import { countedStore } from '../stream/counted-store.ts';
import type { ServerCommand, ServerReport } from './messages.ts';
import { streamingRun } from './runs.ts';

const [, , file = ''] = process.argv;
const store = countedStore(sqlite(file));
const work = streamingRun();
const app = runtime({ app: 'reconnect', store, runnables: [work] });
const listening = await serve(app, {
  port: 0,
  limits: { streams: 1_000, requestsPerMinute: false },
  stream: { heartbeatMs: 500 },
});

function report(message: ServerReport): void {
  process.send?.(message);
}

async function memory(): Promise<void> {
  for (let i = 0; i < 3; i++) {
    globalThis.gc?.();
    await turn();
  }
  const { heapUsed, rss } = process.memoryUsage();
  report({ type: 'memory', heapUsed, rss, followers: store.followers });
}

async function approveAll(): Promise<void> {
  const waiting = await app.requests.listPendingApprovals();
  for (const { requestId } of waiting)
    await app.requests.answer(requestId, { decision: 'approve', by: 'ann' });
  report({ type: 'approved', count: waiting.length });
}

async function ledger(session: string): Promise<void> {
  const events: string[] = [];
  for await (const event of app.sessions.events(session)) events.push(JSON.stringify(event));
  report({ type: 'ledger', session, events });
}

async function carryOut(command: ServerCommand): Promise<void> {
  switch (command.type) {
    case 'start': {
      const run = app.run(work, { session: command.session, input: 'Go', runId: command.run });
      run.catch(() => undefined);
      await run.accepted();
      report({ type: 'started', run: command.run });
      return;
    }
    case 'memory':
      return memory();
    case 'approve':
      return approveAll();
    case 'ledger':
      return ledger(command.session);
    case 'close':
      await listening.close({ closeApp: true });
      process.disconnect();
  }
}

process.on('message', (command: ServerCommand) => void carryOut(command));
report({ type: 'listening', port: listening.port });
