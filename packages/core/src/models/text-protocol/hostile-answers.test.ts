import { expect, test } from 'vitest';
import { hostileTexts } from '../../supervision/guardrails/hostile-texts.fixture.ts';
import { options } from './call-options.fixture.ts';
import { TextAnswer } from './text-answer.ts';

test.each(
  hostileTexts([
    '{',
    '[',
    '(',
    '"',
    '`',
    '```',
    '```json\n',
    '<',
    '<tool_call>',
    '<think>',
    '[TOOL_CALLS]',
    'look(',
    'look(q="',
    'Action: ',
    'Action: look\n',
    'Action: look\nAction Input: ',
    'Action: {"tool": "look", ',
    'Thought: action: {',
    ' ',
    '\\',
    '/*',
    'final answer',
    '<arg_key>q</arg_key><arg_value>',
    'a',
  ]),
)('a long answer of %s takes no longer than others', async (_name, text) => {
  for (const before of ['', 'Action: ']) {
    const answer = new TextAnswer(options, () => undefined);
    answer.push(before);
    for (let at = 0; at < text.length; at += 5_000) answer.push(text.slice(at, at + 5_000));
    expect(answer.end({ unified: 'stop', raw: undefined })).toHaveProperty('unified');
  }
});
