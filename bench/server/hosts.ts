import { serve } from '@adjutant/server';
import { serve as listen } from '@hono/node-server';
import { agent, memoryStore, runtime, type Store, tool } from 'adjutant';
import { postgres } from 'adjutant/postgres';
import { sqlite } from 'adjutant/sqlite';
import { stepCountIs, streamText } from 'ai';
import { Hono } from 'hono';
import { z } from 'zod';
import type { HostConfig } from './host-config.ts';
import { deltasOf, planIn } from './plan.ts';
import { plannedModel } from './planned-model.ts';

/** More than any benchmark opens. */
const manyStreams = 1_000_000;

/** Serves what is asked for, on a free port. @returns where */
export function host(config: HostConfig): Promise<string> {
  switch (config.kind) {
    case 'adjutant':
      return adjutantHost(config);
    case 'bare':
      return listening(bareRoutes(config.heartbeat));
    case 'ai-sdk':
      return listening(aiSdkRoutes());
  }
}

const add = tool({
  name: 'add',
  description: 'Adds',
  schema: z.object({ a: z.number(), b: z.number() }),
  readOnly: true,
  execute: ({ args }) => args.a + args.b,
});

async function adjutantHost({
  store,
  heartbeat,
}: Extract<HostConfig, { kind: 'adjutant' }>): Promise<string> {
  const worker = agent({
    name: 'worker',
    model: plannedModel(),
    tools: [add],
    limits: { rounds: 1_000 },
  });
  const app = runtime({ app: 'bench', store: storeOf(store), runnables: [worker] });
  const stream = heartbeat === undefined ? {} : { heartbeatMs: heartbeat };
  return (await serve(app, { port: 0, stream, limits: { streams: manyStreams } })).url;
}

function storeOf(place: Extract<HostConfig, { kind: 'adjutant' }>['store']): Store {
  switch (place.kind) {
    case 'memory':
      return memoryStore();
    case 'sqlite':
      return sqlite(place.path);
    case 'postgres':
      return postgres(place.url, { schema: place.schema });
  }
}

type Write = (text: string) => void;

/**
 * The server that one writes by hand with the same framework of HTTP: an answer that is always the
 * same, and a stream that passes on what comes.
 */
function bareRoutes(heartbeat: number | undefined): Hono {
  const readers = new Set<Write>();
  const encoder = new TextEncoder();
  const api = new Hono();
  api.post('/v1/runs', async (context) => {
    const { input } = await context.req.json<{ input: string }>();
    void emit(planIn(input), (text) => {
      for (const write of readers) write(text);
    });
    return context.json(
      {
        session: 'session',
        id: 'run',
        status: 'accepted',
        links: { run: '/v1/sessions/session/runs/run' },
      },
      202,
    );
  });
  api.get('/v1/sessions/:session/stream', () => {
    let write: Write = () => undefined;
    let beat: NodeJS.Timeout | undefined;
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        write = (text) => controller.enqueue(encoder.encode(text));
        write(': \n\n');
        readers.add(write);
        if (heartbeat !== undefined) beat = setInterval(() => write(': \n\n'), heartbeat);
      },
      cancel() {
        readers.delete(write);
        clearInterval(beat);
      },
    });
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  });
  return api;
}

const eventsPerRound = 5;
const eventData = JSON.stringify({
  v: 1,
  seq: 1,
  id: 'event',
  at: 1_700_000_000_000,
  invocationId: 'run',
  filler: 'x'.repeat(200),
});

async function emit(plan: ReturnType<typeof planIn>, write: Write): Promise<void> {
  if ('deltas' in plan) {
    const head = { type: 'assistant_delta', invocationId: 'run', agent: 'worker' };
    for await (const delta of deltasOf(plan))
      write(`event: assistant_delta\ndata: ${JSON.stringify({ ...head, delta })}\n\n`);
  } else {
    for (let round = 0; round < plan.rounds; round++) {
      await new Promise<void>((resolve) => setImmediate(resolve));
      for (let i = 0; i < eventsPerRound; i++)
        write(`id: 1\nevent: tool_call\ndata: ${eventData}\n\n`);
    }
  }
  write('event: invocation_end\ndata: {}\n\n');
}

/** The AI SDK's stream of one call, in the answer to it: it has no followers. */
function aiSdkRoutes(): Hono {
  const api = new Hono();
  const model = plannedModel();
  api.post('/v1/runs', async (context) => {
    const { input } = await context.req.json<{ input: string }>();
    return streamText({
      model,
      prompt: input,
      stopWhen: stepCountIs(1_000),
    }).toUIMessageStreamResponse();
  });
  return api;
}

function listening(api: Hono): Promise<string> {
  return new Promise((resolve) => {
    listen(
      { fetch: api.fetch, port: 0, hostname: '127.0.0.1', overrideGlobalObjects: false },
      ({ port }) => resolve(`http://127.0.0.1:${port}`),
    );
  });
}
