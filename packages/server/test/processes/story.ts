import { agent, type Runnable, type ToolContext, tool } from 'adjutant';
import type { Clock } from 'adjutant/ports';
import { type ScriptedResponse, scriptedModel } from 'adjutant/testing';
import { z } from 'zod';
import type { EffectFile } from '../../../core/test/crash/effect-file.ts';

/** Parts that the processes of a test share. */
export interface StoryPorts {
  /** On which models wait between two pieces. */
  readonly clock: Clock;
  /** Holds the tools until it resolves. */
  readonly finish: Promise<void>;
  readonly effects: Pick<EffectFile, 'add'>;
}

const pieceCount = 40;

/** A text in pieces that are told apart wherever they are cut. */
function piecesOf(name: string): readonly string[] {
  return Array.from({ length: pieceCount }, (_, i) => `${name} ${i}; `);
}

export const tale = piecesOf('tale');
export const plan = piecesOf('plan');
export const thanks = piecesOf('thanks');

const written = (chunks: readonly string[]): ScriptedResponse => ({ chunks, chunkDelayMs: 1 });

/** Makes the last answer of an agent from the texts that it was told. */
export function heard(texts: readonly string[]): string {
  return `I heard: ${texts.join(', ')}`;
}

/** Makes the definitions that every process has under the same names. */
export function story({ clock, finish, effects }: StoryPorts): readonly Runnable[] {
  const model = (answer: Parameters<typeof scriptedModel>[0]) =>
    scriptedModel(answer, { clock, record: false });
  const note = ({
    session,
    callId,
    idempotencyKey: key,
    attempt,
  }: Pick<ToolContext, 'session' | 'callId' | 'idempotencyKey' | 'attempt'>): void =>
    effects.add({ session: session.id, callId, key, attempt });
  const held = (name: 'once' | 'again', recovery: 'report' | 'rerun') =>
    tool({
      name,
      description: 'Does something, and takes its time',
      schema: z.object({}),
      recovery,
      execute: async (ctx) => {
        note(ctx);
        await finish;
        return 'done';
      },
    });
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    schema: z.object({ cents: z.number() }),
    approval: true,
    execute: (ctx) => {
      note(ctx);
      return `paid ${ctx.args.cents}`;
    },
  });
  const calling = (name: string) =>
    model((prompt) => {
      const texts = prompt.flatMap(({ role, content }) =>
        role === 'user' ? content.flatMap((part) => (part.type === 'text' ? part.text : [])) : [],
      );
      return prompt.some(({ role }) => role === 'tool')
        ? { text: heard(texts) }
        : { toolCalls: [{ name, args: {} }] };
    });
  return [
    agent({ name: 'teller', model: model(() => written(tale)) }),
    agent({
      name: 'payer',
      tools: [pay],
      model: model((prompt) =>
        prompt.at(-1)?.role === 'tool'
          ? written(thanks)
          : { ...written(plan), toolCalls: [{ name: 'pay', args: { cents: 5 } }] },
      ),
    }),
    agent({ name: 'reporter', tools: [held('once', 'report')], model: calling('once') }),
    agent({ name: 'repeater', tools: [held('again', 'rerun')], model: calling('again') }),
  ];
}
