import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { agent, type Event, runtime, tool } from 'adjutant';
import { eventually, scriptedModel, type TestClock, testClock } from 'adjutant/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

let server: Server;
let port: number;
/** Idempotency keys of the requests that came in, and of those that were carried out. */
let asked: string[];
let done: string[];
let answer: Answer;
let clock: TestClock;

beforeEach(async () => {
  asked = [];
  done = [];
  clock = testClock();
  server = createServer((request, response) => {
    asked.push(String(request.headers['idempotency-key']));
    answer(request, response);
  });
  await listen(0);
});

afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

async function listen(at: number): Promise<void> {
  await new Promise<void>((resolve) => server.listen(at, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
}

/** A server that honours the key does it once only. */
function perform(request: IncomingMessage): void {
  const key = String(request.headers['idempotency-key']);
  if (!done.includes(key)) done.push(key);
}

interface RefundOptions {
  readonly recovery?: 'rerun';
  readonly timeoutMs?: number;
  readonly before?: (attempt: number) => Promise<void>;
  /** Lets time pass by `clock` alone, so that a slow machine meets no timeout. */
  readonly isOnClock?: boolean;
}

async function refund({ before, isOnClock = false, ...options }: RefundOptions = {}) {
  const refunding = tool({
    name: 'refund',
    description: 'Pays back',
    schema: z.object({ cents: z.number() }),
    retry: { attempts: 3, initialDelayMs: 1 },
    ...options,
    execute: async ({ args, idempotencyKey, signal, attempt }) => {
      await before?.(attempt);
      const headers = { 'idempotency-key': idempotencyKey };
      const response = await fetch(`http://127.0.0.1:${port}/refunds`, {
        method: 'POST',
        headers,
        body: JSON.stringify(args),
        signal,
      });
      if (!response.ok)
        throw Object.assign(new Error(`HTTP ${response.status}`), {
          status: response.status,
          headers: response.headers,
        });
      return response.json();
    },
  });
  const responses = [{ toolCalls: [{ name: 'refund', args: { cents: 500 } }] }, { text: 'done' }];
  const model = scriptedModel(responses);
  const desk = agent({ name: 'desk', model, tools: [refunding] });
  const app = runtime({ app: 'shop', ...(isOnClock && { ports: { clock } }) });
  const running = app.run(desk, 'Pay it back');
  const steps = { what: 'the end', clock, stepMs: 1, patienceMs: 100_000 };
  const result = await (isOnClock ? eventually(running, steps) : running);
  expect(result).toMatchObject({ status: 'completed', output: 'done' });
  const { events } = result.session;
  return {
    attempts: attemptsOf(events),
    settled: settledOf(events),
    told: JSON.stringify(model.calls.at(-1)?.prompt.at(-1)),
  };
}

const attemptsOf = (events: readonly Event[]) =>
  events.flatMap((event) => (event.type === 'tool_attempt' ? [event.key] : []));
const settledOf = (events: readonly Event[]) =>
  events.flatMap((event) => (event.type === 'tool_result' && event.settled ? [event] : []));

const minute = 60_000;
const afterDoing: readonly (readonly [string, Answer, RefundOptions])[] = [
  ['resets the connection', (request) => request.socket.resetAndDestroy(), {}],
  ['hangs', () => clock.advance(minute), { timeoutMs: minute, isOnClock: true }],
  ['answers 502', (_request, response) => response.writeHead(502).end(), {}],
];

test.each(afterDoing)(
  'a server that does it and then %s has done it once, and the model is told that nobody knows',
  async (_name, then, options) => {
    answer = (request, response) => {
      perform(request);
      then(request, response);
    };
    const { attempts, settled, told } = await refund(options);
    expect(asked).toHaveLength(1);
    expect(done).toHaveLength(1);
    expect(attempts).toEqual(done);
    expect(settled).toMatchObject([{ effect: 'unknown', result: { status: 'unknown' } }]);
    expect(told).toMatch(/not known|unknown/);
  },
);

test.each(afterDoing)(
  'a tool that may be run again asks a server that %s once more, under the same key',
  async (_name, then, options) => {
    answer = (request, response) => {
      perform(request);
      if (asked.length === 1) then(request, response);
      else response.writeHead(200, { 'content-type': 'application/json' }).end('"paid"');
    };
    const { attempts, settled } = await refund({ ...options, recovery: 'rerun' });
    expect(asked).toHaveLength(2);
    expect(done).toHaveLength(1);
    expect(attempts).toEqual(asked);
    expect(settled).toMatchObject([{ result: { status: 'success', content: 'paid' } }]);
  },
);

test('a server that answers 429 is asked again, and does it once', async () => {
  answer = (request, response) => {
    if (asked.length < 3) {
      response.writeHead(429, { 'retry-after': '0' }).end();
      return;
    }
    perform(request);
    response.writeHead(200, { 'content-type': 'application/json' }).end('"paid"');
  };
  const { attempts, settled } = await refund();
  expect(asked).toHaveLength(3);
  expect(done).toHaveLength(1);
  expect(attempts).toEqual(asked);
  // A request after one without effect is another request, with another key.
  expect(new Set(asked).size).toBe(3);
  expect(settled).toMatchObject([{ result: { status: 'success', content: 'paid' } }]);
});

test('a server that refuses the connection is asked again, and does it once', async () => {
  answer = (request, response) => {
    perform(request);
    response.writeHead(200, { 'content-type': 'application/json' }).end('"paid"');
  };
  await new Promise((resolve) => server.close(resolve));
  const { attempts, settled } = await refund({
    before: async (attempt) => (attempt === 3 ? listen(port) : undefined),
  });
  expect(attempts).toHaveLength(3);
  expect(done).toHaveLength(1);
  expect(asked).toEqual([attempts.at(-1)]);
  expect(settled).toMatchObject([{ result: { status: 'success', content: 'paid' } }]);
});
