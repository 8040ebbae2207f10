/**
 * An operation that takes longer than a call: the tool begins it, the run waits without costing
 * anything, and a webhook brings the result.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { agent, pending, runtime, tool } from 'adjutant';
import { sqlite } from 'adjutant/sqlite';
import { scriptedModel } from 'adjutant/testing';
import { z } from 'zod';

const folder = mkdtempSync(join(tmpdir(), 'adjutant-example-'));
/** The service that transcribes: it has been told of these recordings, and will call back. */
const ordered: { readonly job: string; readonly recording: string }[] = [];

function openStudio() {
  const transcribe = tool({
    name: 'transcribe',
    description: 'Transcribes a recording; this takes hours',
    schema: z.object({ recording: z.string() }),
    execute: (ctx) => {
      const job = `job-${ctx.idempotencyKey.slice(-8)}`;
      ordered.push({ job, recording: ctx.args.recording });
      return pending({ operationId: job, summary: `the transcript of ${ctx.args.recording}` });
    },
  });
  const editor = agent({
    name: 'editor',
    // With a real model: model: openai('gpt-5-mini')
    model: scriptedModel((prompt) => {
      const results = prompt.filter(({ role }) => role === 'tool');
      if (results.length > 0)
        return {
          text:
            'Done: ' +
            `${JSON.stringify(results).includes('Good evening') ? 'it begins with "Good evening"' : '?'}.`,
        };
      return { toolCalls: [{ name: 'transcribe', args: { recording: 'interview.wav' } }] };
    }),
    tools: [transcribe],
  });
  return {
    editor,
    app: runtime({
      app: 'studio',
      store: sqlite(join(folder, 'studio.db')),
      runnables: [editor],
      recover: 'manual',
    }),
  };
}

const first = openStudio();
const waiting = await first.app.run(first.editor, {
  session: 'interview',
  input: 'Transcribe interview.wav',
});
console.log(waiting.status, waiting.pendingCalls[0]?.request.summary);
assert.equal(waiting.status, 'yielded');
assert.equal(waiting.pendingCalls[0]?.kind, 'result');
await first.app.close();

// Hours later, in a process that has never heard of the run: the service calls back with its own
// name for the job.
const [order] = ordered;
assert.ok(order);
const second = openStudio();
await second.app.requests.settleOperation(order.job, { text: 'Good evening, and welcome.' });
// A service that calls twice is told so; one result counts.
await assert.rejects(
  () => second.app.requests.settleOperation(order.job, { text: 'Another text' }),
  {
    code: 'request_settled',
  },
);
await assert.rejects(() => second.app.requests.settleOperation('job-unknown', {}), {
  code: 'request_not_found',
});

// With `recover: 'auto'`, the default, the run would have gone on by itself.
const { status, result } = await second.app.advance('interview');
console.log(status, result?.output);
assert.equal(result?.output, 'Done: it begins with "Good evening".');
assert.equal(ordered.length, 1, 'it was ordered once');
await second.app.close();
rmSync(folder, { recursive: true });
