import type { LanguageModelV4Prompt } from '@ai-sdk/provider';
import { type AgentOptions, agent, runtime, type Session, tool } from 'adjutant';
import { promptAt } from 'adjutant/context';
import { type ScriptedResponse, scriptedModel } from 'adjutant/testing';
import { canonicalJson } from 'adjutant/text';
import { expect } from 'vitest';
import { z } from 'zod';

export const read = tool({
  name: 'read',
  description: 'Reads a page',
  recovery: 'rerun',
  schema: z.object({ page: z.number() }),
  execute: ({ args }) => `page ${args.page}\n${'a line of text\n'.repeat(60)}`,
});
export const same = tool({
  name: 'same',
  description: 'Says the same',
  recovery: 'rerun',
  schema: z.object({}),
  execute: () => 'the same words\n'.repeat(60),
});

export const reading =
  (rounds: number) =>
  (_prompt: LanguageModelV4Prompt, answered: number): ScriptedResponse =>
    answered < rounds
      ? { toolCalls: [{ name: 'read', args: { page: answered } }] }
      : { text: 'done' };

export const compactions = ({ events }: Session) =>
  events.flatMap((event) => (event.type === 'compaction' ? [event] : []));
export const decisions = ({ events }: Session) =>
  events.flatMap((event) =>
    event.type === 'decision' && event.component === 'context' ? [event] : [],
  );
export const jsonOf = (value: unknown) => JSON.stringify(value);

export function expectExact(
  session: Session,
  models: readonly { readonly calls: readonly object[] }[],
): void {
  const received = models.flatMap(({ calls }) =>
    calls.map((call) => canonicalJson({ ...call, abortSignal: undefined } as never)),
  );
  const count = session.events.filter(({ type }) => type === 'model_start').length;
  const rebuilt = Array.from({ length: count }, (_, n) =>
    canonicalJson(promptAt(session, n + 1) as never),
  );
  expect(rebuilt.sort()).toEqual(
    received.map((text) => canonicalJson(JSON.parse(text) as never)).sort(),
  );
}

export async function readPages(
  window: number,
  rounds: number,
  options: Partial<AgentOptions> = {},
  isWindowKnown = true,
) {
  const scripted = scriptedModel(reading(rounds), { contextWindow: window, isWindowKnown });
  const reader = agent({
    name: 'reader',
    model: scripted,
    tools: [read, same],
    limits: { rounds: rounds + 5 },
    ...options,
  });
  const result = await runtime({ app: 'library' }).run(reader, 'Read all');
  return { ...result, scripted };
}
