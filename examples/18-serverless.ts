/**
 * A serverless handler: request in, advance, response out. Between two requests there is nothing
 * but the store. A front end makes two calls: `{ message }` begins a conversation, `{ sessionId,
 * yieldResponse }` answers what it waits for.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Advance, agent, loop, runtime, tool } from 'adjutant';
import { sqlite } from 'adjutant/sqlite';
import { scriptedModel } from 'adjutant/testing';
import { z } from 'zod';

const folder = mkdtempSync(join(tmpdir(), 'adjutant-example-'));

const chooseDay = tool({
  name: 'chooseDay',
  description: 'Lets the patient choose a day',
  schema: z.object({ days: z.array(z.string()) }),
  yieldSchema: z.object({ day: z.string() }),
});

/** Knows no more than its prompt, like a real model: each request makes a new one. */
function receptionist() {
  return agent({
    name: 'receptionist',
    // With a real model: model: openai('gpt-5-mini')
    model: scriptedModel((prompt) => {
      const messages = prompt.filter(({ role }) => role === 'user').length;
      const chosen = /"day":"(\w+)"/.exec(
        JSON.stringify(prompt.find(({ role }) => role === 'tool'))?.replaceAll('\\', ''),
      )?.[1];
      if (chosen === undefined)
        return { toolCalls: [{ name: 'chooseDay', args: { days: ['Monday', 'Thursday'] } }] };
      return {
        text:
          messages === 1 ? `You have an appointment on ${chosen}. Anything else?` : 'See you then!',
      };
    }),
    tools: [chooseDay],
  });
}

const request = z.object({
  sessionId: z.string().optional(),
  message: z.string().optional(),
  yieldResponse: z
    .object({ callId: z.string().optional(), invocationId: z.string().optional(), input: z.json() })
    .optional(),
});

/**
 * Milliseconds that a request may take: what is under way then is ended, and the next request goes
 * on.
 */
const slice = 20_000;

export async function handler(event: unknown) {
  const { sessionId, message, yieldResponse } = request.parse(event);
  const conversation = loop({
    name: 'conversation',
    runnable: receptionist(),
    yields: true,
    maxIterations: 2,
  });
  // A function that may be frozen after its response looks after its own session only: recovery is
  // for a worker or a timer.
  const app = runtime({
    app: 'clinic',
    store: sqlite(join(folder, 'clinic.db')),
    runnables: [conversation],
    recover: 'manual',
  });
  try {
    const session =
      sessionId === undefined ? await app.sessions.create() : await app.sessions.get(sessionId);
    if (yieldResponse?.callId !== undefined)
      session.addToolInput(yieldResponse.callId, yieldResponse.input);
    else if (yieldResponse?.invocationId !== undefined)
      session.addMessage(String(yieldResponse.input), yieldResponse.invocationId);
    else if (message !== undefined) await app.run(conversation, { session, input: message });
    await session.flush();
    return response(session.id, await app.advance(session, { sliceMs: slice }));
  } finally {
    await app.close();
  }
}

function response(sessionId: string, { status, result }: Advance) {
  const last = result?.session.events.findLast((event) => event.type === 'assistant');
  const said = last === undefined ? {} : { message: String(last.text) };
  if (status !== 'waiting')
    return { sessionId, status: status === 'done' ? 'completed' : status, ...said };
  const [pending] = result.pendingCalls;
  const pendingYield =
    pending === undefined
      ? { type: 'loop', invocationId: result.yieldedInvocationId }
      : { type: 'tool', callId: pending.callId, toolName: pending.name, args: pending.args };
  return { sessionId, status: 'awaiting_input', pendingYield, ...said };
}

const first = await handler({ message: 'I need an appointment' });
console.log(first);
assert.equal(first.status, 'awaiting_input');
assert.ok('pendingYield' in first && first.pendingYield.type === 'tool');
assert.deepEqual(first.pendingYield.args, { days: ['Monday', 'Thursday'] });
const { sessionId } = first;

// An answer that no call waits for is refused, and nothing changes.
await assert.rejects(
  () => handler({ sessionId, yieldResponse: { callId: 'made-up', input: { day: 'Sunday' } } }),
  { code: 'request_not_found' },
);

const second = await handler({
  sessionId,
  yieldResponse: { callId: first.pendingYield.callId, input: { day: 'Thursday' } },
});
console.log(second);
assert.ok('pendingYield' in second && second.pendingYield.type === 'loop');
assert.equal(second.message, 'You have an appointment on Thursday. Anything else?');

// The same response sent twice is refused: its question has been answered.
await assert.rejects(
  () =>
    handler({
      sessionId,
      yieldResponse: { callId: first.pendingYield.callId, input: { day: 'Monday' } },
    }),
  {
    code: 'request_settled',
  },
);

const third = await handler({
  sessionId,
  yieldResponse: { invocationId: second.pendingYield.invocationId, input: 'No, thank you' },
});
console.log(third);
assert.deepEqual(third, { sessionId, status: 'completed', message: 'See you then!' });
rmSync(folder, { recursive: true });
