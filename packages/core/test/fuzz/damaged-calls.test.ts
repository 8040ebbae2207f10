import { expect, test } from 'vitest';
import { readAnswer } from '../models/text-protocol/read-answer.ts';

const meant = {
  name: 'send_mail',
  args: { to: 'ann@example.com', body: 'Dear Ann', urgent: false, copies: 12 },
};
const needed = { to: meant.args.to, body: meant.args.body };
const spellings = [
  `Action: ${JSON.stringify({ tool: meant.name, arguments: meant.args })}`,
  "Action: {'tool': 'send_mail', 'arguments': {'to': 'ann@example.com', 'body': 'Dear Ann', " +
    "'urgent': False, 'copies': 12}}",
  `Action: send_mail(to="ann@example.com", body="Dear Ann", urgent=False, copies=12)`,
  `Action: send_mail\nAction Input: ${JSON.stringify(meant.args)}`,
  `<tool_call>\n${JSON.stringify({ name: meant.name, arguments: meant.args })}\n</tool_call>`,
  `<function=send_mail>${JSON.stringify(meant.args)}</function>`,
  `[TOOL_CALLS]send_mail[ARGS]${JSON.stringify(meant.args)}`,
  JSON.stringify({ tool: meant.name, arguments: meant.args }),
  `[send_mail(to='ann@example.com', body='Dear Ann', urgent=False, copies=12)]`,
];
const signs = ['"', "'", '{', '}', '[', ']', '(', ')', ':', ',', '=', '\\', '`', '\n', ' '];
/** Signs that make up a call; the values have none of them. */
const isSign = /["'{}[\](),:=]/;

/**
 * The letters of a call. A sign may get into a name or a value, where it was written; but nothing
 * may get lost or into another place.
 */
function letters(value: unknown): string {
  return JSON.stringify(value, (key, one) =>
    typeof one === 'object' && one !== null && !Array.isArray(one)
      ? Object.entries(one).map(([name, part]) => [plain(name), part])
      : typeof one === 'string' && key !== ''
        ? plain(one)
        : one,
  );
}

const plain = (text: string) => text.replaceAll(/["'{}[\](),:=\\`\s]/g, '');

/** The text with one sign left out, doubled or replaced by another one. */
function* damaged(text: string): Generator<string> {
  for (let at = text.startsWith('Action:') ? 8 : 0; at < text.length; at++) {
    const char = text[at] as string;
    if (!isSign.test(char)) continue;
    const [before, behind] = [text.slice(0, at), text.slice(at + 1)];
    yield before + behind;
    for (const sign of signs) {
      if (sign !== char) yield before + sign + behind;
      yield before + sign + text.slice(at);
    }
  }
}

test.each(spellings)('%s: with a wrong sign it is read as meant or not at all', async (text) => {
  expect((await readAnswer(text)).calls).toEqual([meant]);
  let count = 0;
  const wrong: unknown[] = [];
  for (const one of damaged(text)) {
    count++;
    const { calls } = await readAnswer(one);
    const isTold = calls.every(({ name }) => name === 'unreadable_action');
    if (isTold || letters(calls) === letters([meant])) continue;
    wrong.push([one, calls]);
  }
  expect(count).toBeGreaterThan(200);
  expect(wrong).toEqual([]);
});

test.each(spellings)('%s: cut off, it is read as meant or not at all', async (text) => {
  for (let length = 1; length < text.length; length++) {
    for (const finishReason of ['length', 'stop'] as const) {
      const { calls } = await readAnswer(text.slice(0, length), { finishReason });
      const read = calls.filter(({ name }) => name !== 'unreadable_action');
      if (read.length === 0) continue;
      // A text that ends behind an argument lacks its brackets only, as far as anybody can see.
      const args = finishReason === 'length' ? meant.args : expect.objectContaining(needed);
      expect({ length, finishReason, read }).toEqual({
        length,
        finishReason,
        read: [{ name: meant.name, args }],
      });
    }
  }
});
