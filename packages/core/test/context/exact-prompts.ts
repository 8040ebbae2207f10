import { type Session, tool } from 'adjutant';
import { promptOf } from 'adjutant/context';
import { type ScriptedModel, type ScriptedResponse, scriptedModel } from 'adjutant/testing';
import { canonicalJson } from 'adjutant/text';
import { expect } from 'vitest';
import { z } from 'zod';

export const quiet = z.object({});
export const look = tool({
  name: 'look',
  description: 'Looks',
  recovery: 'rerun',
  schema: quiet,
  execute: (ctx) => {
    ctx.state['seen'] = ((ctx.state['seen'] as number | undefined) ?? 0) + 1;
    return { found: ctx.callId };
  },
});

export const read = tool({
  name: 'files.read',
  description: 'Has a dot',
  recovery: 'rerun',
  schema: quiet,
  execute: () => 'text',
});

/** Three rounds of calls with thoughts, and an answer. */
export const script: readonly ScriptedResponse[] = [
  { thoughts: 'hm', text: 'first', toolCalls: [{ name: 'look' }, { name: 'files__read' }] },
  { toolCalls: [{ name: 'look' }] },
  { thoughts: 'so', toolCalls: [{ name: 'nothing' }, { name: 'look', args: '{"' }] },
  { text: 'the answer' },
];
export const scripted = (times = 1) =>
  scriptedModel(Array.from({ length: times }, () => script).flat());

/**
 * All calls that models got, in the order in which they were made, against what the ledger says of
 * them.
 */
export function expectExact(session: Session, models: readonly ScriptedModel[]): void {
  const received = models
    .flatMap(({ calls }) => calls.map(({ abortSignal: _, ...options }) => canonicalJson(options)))
    .sort();
  const rebuilt = session.events
    .flatMap((event) =>
      event.type === 'model_start'
        ? [canonicalJson(promptOf(session.events, event.seq, session.ledger.resolve))]
        : [],
    )
    .sort();
  expect(rebuilt).toEqual(received);
  expect(rebuilt.length).toBeGreaterThan(0);
}
