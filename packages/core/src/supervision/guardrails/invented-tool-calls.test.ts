import { describe, expect, test } from 'vitest';
import type { GuardrailVerdict } from '../guardrail.ts';
import { hostileTexts } from './hostile-texts.fixture.ts';
import { inventedToolCalls } from './invented-tool-calls.ts';

function check(
  text: string,
  tools: readonly string[] = ['find', 'crm.send'],
): GuardrailVerdict | undefined {
  return inventedToolCalls().output?.({ agent: 'a', round: 1, text, tools });
}

describe('calls that are only written', () => {
  test.each([
    '<tool_call>{"name": "find", "arguments": {"q": "x"}}</tool_call>',
    'I will look.\n<function_calls>\n<invoke name="find">',
    '<function=find>{"q": 1}</function>',
    '[TOOL_CALLS] [{"name": "other"}]',
    '<|tool_call|>find',
    '<｜tool▁calls▁begin｜>',
    '```tool_code\nprint(find(q="x"))\n```',
    '```json\n{ "name": "find", "arguments": { "q": "x" } }\n```',
    '{"tool":"find","args":{}}',
    '{"arguments": {"to": "bob"}, "function": "crm__send"}',
    '{"action": "crm.send", "action_input": "hello"}',
    'Thought: look\nAction: find\nAction Input: {"q": "x"}',
  ])('%j', (text) => {
    expect(check(text)).toMatchObject({
      action: 'guide',
      message: expect.stringContaining('make a real call'),
    });
  });

  test('what was found is named, and the text is not quoted', () => {
    const verdict = check('My key is abc123. {"name":"find","arguments":{}}');
    expect(verdict).toMatchObject({
      reasoning: 'The answer has a call of "find" written as text, and no call was made.',
    });
    expect(JSON.stringify(verdict)).not.toContain('abc123');
  });
});

describe('answers', () => {
  test.each([
    'The answer is 42.',
    'A call looks like this: `<tool_call>`.',
    '{"name": "Robin", "arguments": []}',
    '{"name": "find"}',
    'The tool "find" takes arguments: q.',
    'if (a < b) { return "name"; }',
    'Action: buy milk',
  ])('%j', (text) => {
    expect(check(text)).toBeUndefined();
  });

  test('a name far from any arguments is no call', () => {
    expect(check(`{"name":"find"}${' '.repeat(3_000)}{"arguments":{}}`)).toBeUndefined();
  });

  test('without tools only markup counts', () => {
    expect(check('{"name":"find","arguments":{}}', [])).toBeUndefined();
    expect(check('<tool_call>find', [])?.action).toBe('guide');
  });
});

test.each(
  hostileTexts([
    '<',
    '<tool_call',
    '{',
    '"name":"find"',
    '"name" : "',
    'Action: a\n',
    'Action: a\nAction Input',
    '`',
    '[TOOL_CALLS',
  ]),
)('a long text of %s takes no longer than others', (_name, text) => {
  check(text);
  check(`${text}{`);
  check(`${text}Action Input:`);
});
