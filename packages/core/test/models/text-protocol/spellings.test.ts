import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readAnswer } from './read-answer.ts';

interface Spelling {
  readonly family: string;
  readonly text: string;
  /** Meaning of the answer. `unreadable`: nobody can be sure, so the model must be told. */
  readonly means:
    | { readonly calls: readonly { readonly name: string; readonly args: unknown }[] }
    | { readonly text: string }
    | 'unreadable';
}

const corpus: readonly Spelling[] = JSON.parse(
  readFileSync(new URL('spellings.json', import.meta.url), 'utf8'),
);

/** `wrong`: read as something that was not meant. */
function judge({ means }: Spelling, { text, calls }: Awaited<ReturnType<typeof readAnswer>>) {
  const isTold = calls.length === 1 && calls[0]?.name === 'unreadable_action';
  if (means === 'unreadable') return isTold ? 'as meant' : 'wrong';
  if (isTold) return 'unread';
  if ('text' in means)
    return calls.length === 0 && text.trim() === means.text.trim() ? 'as meant' : 'wrong';
  if (calls.length === 0) return 'unread';
  return JSON.stringify(calls) === JSON.stringify(means.calls) ? 'as meant' : 'wrong';
}

async function judged(size: number) {
  const verdicts: Record<'as meant' | 'unread' | 'wrong', string[]> = {
    'as meant': [],
    unread: [],
    wrong: [],
  };
  for (const spelling of corpus)
    verdicts[judge(spelling, await readAnswer(spelling.text, { size }))].push(spelling.text);
  return verdicts;
}

test.each([1, 7, 10_000])('spellings of models in pieces of %i are read as meant', async (size) => {
  const verdicts = await judged(size);
  expect(corpus.length).toBeGreaterThan(200);
  expect(verdicts.wrong).toEqual([]);
  // To read these would be to guess. The model is told.
  expect(verdicts.unread).toEqual([
    'Action: {"tool": "web_search", "arguments": {"query": "the "best" one"}}',
    'Action: {"tool": "get_weather" "arguments": {"city": "Paris"}}',
  ]);
  expect(verdicts['as meant'].length / corpus.length).toBeGreaterThan(0.95);
});
