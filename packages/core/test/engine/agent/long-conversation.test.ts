import type { LanguageModelV4Prompt } from '@ai-sdk/provider';
import { agent, type CompactionOptions, type Event, runtime, type Session, tool } from 'adjutant';
import { type ScriptedModel, type ScriptedResponse, scriptedModel } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { partedCalls } from '../../parted-calls.ts';

const rounds = 2_000;
const contextWindow = 20_000;

class Watched {
  readonly parted: string[] = [];
  last: LanguageModelV4Prompt = [];
  summaries = 0;
  calls = 0;

  readonly answer = (prompt: LanguageModelV4Prompt): ScriptedResponse => {
    this.parted.push(...partedCalls(prompt));
    if (JSON.stringify(prompt[0]).includes('You summarise'))
      return { text: `Summary ${++this.summaries}: pages were read.` };
    this.last = prompt;
    const round = this.calls++;
    if (round === rounds) return { text: 'All pages are read.' };
    const name = round === 2 || round === 7 ? 'note' : 'read';
    return {
      toolCalls: [
        {
          name,
          args:
            name === 'note' ? { fact: `Fact of round ${round}: café №${round}` } : { page: round },
        },
      ],
    };
  };

  model(isWindowKnown = true): ScriptedModel {
    return scriptedModel(this.answer, { record: false, contextWindow, isWindowKnown });
  }
}

const note = tool({
  name: 'note',
  description: 'Keeps a fact',
  schema: z.object({ fact: z.string() }),
  execute: (ctx) => {
    ctx.remember(ctx.args.fact);
    return 'kept';
  },
});
const read = tool({
  name: 'read',
  description: 'Reads a page',
  recovery: 'rerun',
  schema: z.object({ page: z.number() }),
  execute: ({ args }) =>
    `page ${args.page}\n${`line of page ${args.page}\n`.repeat(100 + (args.page % 7) * 20)}`,
});

function storedBytes(events: readonly Event[]): number {
  return events.reduce((sum, event) => sum + JSON.stringify(event).length, 0);
}

/**
 * Bytes of everything but the results themselves, which differ in length, per quarter of the
 * rounds.
 */
function bytesByQuarter({ events }: Session): readonly number[] {
  const ends = events.flatMap((event, index) =>
    event.type === 'model_end' && event.status === 'completed' && !event.invocationId.includes('/')
      ? [index]
      : [],
  );
  return [0, 1, 2, 3].map((quarter) => {
    const from = ends[Math.floor((quarter * ends.length) / 4)] ?? 0;
    const to = ends[Math.floor(((quarter + 1) * ends.length) / 4) - 1] ?? events.length;
    return storedBytes(events.slice(from, to));
  });
}

async function converse(watched: Watched, isWindowKnown: boolean, compaction: CompactionOptions) {
  const reader = agent({
    name: 'reader',
    model: watched.model(isWindowKnown),
    tools: [note, read],
    limits: { rounds: rounds + 10 },
    compaction,
  });
  return runtime({ app: 'library' }).run(reader, { input: 'Read all pages', timeoutMs: 600_000 });
}

const cases: readonly (readonly [string, boolean, (watched: Watched) => CompactionOptions])[] = [
  ['without a model for summaries', true, () => ({})],
  ['with a model for summaries', true, (watched) => ({ model: watched.model() })],
  ['with a model whose window is not known', false, () => ({})],
];

test.each(cases)(
  '2,000 rounds with large results, %s',
  async (name, isWindowKnown, compaction) => {
    const watched = new Watched();
    const result = await converse(watched, isWindowKnown, compaction(watched));
    expect(result.status).toBe('completed');
    expect(result.output).toBe('All pages are read.');
    expect(watched.parted).toEqual([]);
    const text = JSON.stringify(watched.last);
    expect(text).toContain('Remember: Fact of round 2: café №2');
    expect(text).toContain('Remember: Fact of round 7: café №7');
    expect(text).toContain('Read all pages');
    expect(result.session.events.some(({ type }) => type === 'compaction')).toBe(true);
    expect(watched.summaries > 0).toBe(name === 'with a model for summaries');
    const quarters = bytesByQuarter(result.session);
    expect(Math.max(...quarters) / Math.min(...quarters)).toBeLessThan(1.1);
  },
  60_000,
);
