import { agent, type Runtime, tool } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { z } from 'zod';
import type { AdjutantServer } from '../../src/index.ts';
import { SseReader } from './sse-reader.ts';

const time = tool({
  name: 'time',
  description: 'Tells the time',
  schema: z.object({}),
  readOnly: true,
  execute: () => '12:00',
});

const replies = () =>
  scriptedModel(
    (prompt) =>
      prompt.at(-1)?.role === 'tool'
        ? { chunks: ['It is ', 'noon', '.'] }
        : { thoughts: 'I look.', toolCalls: [{ name: 'time' }] },
    { record: false },
  );

export const clockAgent = () => agent({ name: 'clock', model: replies(), tools: [time] });

export function get(
  made: AdjutantServer,
  path: string,
  headers: Record<string, string> = {},
): Promise<Response> {
  return made.fetch(new Request(`http://localhost${path}`, { headers }));
}

export async function codeOf(answer: Response): Promise<unknown> {
  return ((await answer.json()) as { readonly code?: unknown }).code;
}

export async function open(
  made: AdjutantServer,
  path: string,
  headers: Record<string, string> = {},
): Promise<SseReader> {
  return new SseReader(await get(made, path, headers));
}

export async function ledgerOf(
  app: Runtime,
  session: string,
): Promise<readonly { readonly seq: number; readonly type: string }[]> {
  const events: { readonly seq: number; readonly type: string }[] = [];
  for await (const event of app.sessions.events(session)) events.push(event);
  return events;
}
