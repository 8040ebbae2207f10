import { server } from '@adjutant/server';
import { agent, rehearsal, runtime } from 'adjutant';
import { injectionPatterns, redactPersonalData } from 'adjutant/guardrails';
import { scriptedModel } from 'adjutant/testing';
import { Figure } from '../measure.ts';
import { type Benchmark, ours, type Row } from '../row.ts';

/**
 * Most time of twice the text, in times of once: more would be a time that grows faster than its
 * text.
 */
const growth = 2.2;
const characters = 450_000;

/**
 * Units of which texts are made that are slow for rules whose time grows with the square of the
 * length.
 */
const units = ['1', '1 ', '4 ', '1-', 'a', 'DE12 ', '\n', '1.1.', 'a@'];

/** Readers of texts that strangers write. */
const readers: Readonly<Record<string, (text: string) => unknown>> = {
  'personal data is looked for': (text) =>
    redactPersonalData().input?.({ agent: 'a', round: 1, text }),
  'instructions are looked for': (text) =>
    injectionPatterns().input?.({ agent: 'a', round: 1, text }),
  'the rehearsal model reads': answerOfRules,
};

async function answerOfRules(text: string): Promise<unknown> {
  const model = await rehearsal().load();
  return model.doStream({ prompt: [{ role: 'user', content: [{ type: 'text', text }] }] });
}

/**
 * Growth of the time of readers with the length of hostile texts: of all texts the one for which it
 * grows most.
 */
export const hostileTexts: Benchmark = {
  name: 'hostile-texts',
  notes: [
    'Hostile texts: medians of the slowest text; nobody else is measured, because nobody ' +
      'else reads them.',
  ],
  async run({ quick }) {
    const rows: Row[] = [];
    for (const [name, read] of Object.entries(readers)) {
      const times = await slowest(read, quick ? 3 : 7);
      rows.push({
        work: `${name} in 900 KB, the slowest of ${units.length} hostile texts`,
        unit: 'ms',
        figures: new Map([[ours, new Figure(times.twice)]]),
      });
      const ratio = new Figure([Math.min(...times.twice) / Math.max(Math.min(...times.once), 1)]);
      rows.push({
        work: `${name}: twice the text against once`,
        unit: '×',
        figures: new Map([[ours, ratio]]),
        ceiling: { limit: growth },
      });
    }
    const chat = await chatGrowth(quick ? 3 : 7);
    rows.push({
      work: 'a chat tells an answer: twice the pieces against once',
      unit: '×',
      figures: new Map([[ours, chat]]),
      ceiling: { limit: growth },
    });
    return rows;
  },
};

const pieces = 1_500;
const piece = 'abcde'.repeat(60);

/**
 * Growth of the work of a chat with the pieces of its answer, which come one at a time. Time of the
 * processor: the model takes most of the other.
 */
async function chatGrowth(times: number): Promise<Figure> {
  const measured: { once: number[]; twice: number[] } = { once: [], twice: [] };
  for (let i = 0; i < times; i++) {
    measured.once.push(await workOf(() => readChat(pieces)));
    measured.twice.push(await workOf(() => readChat(2 * pieces)));
  }
  return new Figure([Math.min(...measured.twice) / Math.min(...measured.once)]);
}

async function readChat(count: number): Promise<void> {
  const chunks = Array.from({ length: count }, () => piece);
  const app = runtime({
    app: 'bench',
    runnables: [agent({ name: 'talk', model: scriptedModel(() => ({ chunks, chunkDelayMs: 1 })) })],
  });
  const api = server(app);
  const body = JSON.stringify({
    id: 'c',
    messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'Go' }] }],
  });
  const request = new Request('http://localhost/v1/agents/talk/chat', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  const text = await (await api.fetch(request)).text();
  if (text.length < count * piece.length) throw new Error('The answer was not told whole.');
  await api.close();
  await app.close();
}

interface Times {
  readonly once: readonly number[];
  readonly twice: readonly number[];
}

async function slowest(read: (text: string) => unknown, times: number): Promise<Times> {
  let found: Times = { once: [0], twice: [0] };
  for (const unit of units) {
    const text = unit.repeat(characters / unit.length);
    const measured: { once: number[]; twice: number[] } = { once: [], twice: [] };
    for (let i = 0; i < times; i++) {
      measured.once.push(await timeOf(() => read(text)));
      measured.twice.push(await timeOf(() => read(text + text)));
    }
    if (Math.min(...measured.twice) > Math.min(...found.twice)) found = measured;
  }
  return found;
}

async function timeOf(work: () => unknown): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

async function workOf(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
