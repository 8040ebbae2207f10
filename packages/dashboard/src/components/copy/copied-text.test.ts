import { expect, test } from 'vitest';
import { curlText, jsonText, markdownText } from './copied-text.ts';

const request = { path: ['sessions', "o'hara/1 & co", 'state'], query: { at: 4 } };

test('a command line has no key, and quotes what a shell would take', () => {
  expect(curlText('https://a.example/office', request, false)).toBe(
    `curl -sS -H "Authorization: Bearer $ADJUTANT_KEY" ` +
      `'https://a.example/office/v1/sessions/o'\\''hara%2F1%20%26%20co/state?at=4'\n`,
  );
  expect(curlText('http://localhost', { path: ['tasks', 't'] }, true)).toBe(
    "curl -sS 'http://localhost/v1/tasks/t'\n",
  );
});

test('JSON is the same value, and has no character that turns or hides text', () => {
  const hidden = ['\u202e', '\u200b', '\u001b'];
  const value = { text: hidden.join('x') };
  for (const one of hidden) expect(jsonText(value)).not.toContain(one);
  expect(JSON.parse(jsonText(value))).toEqual(value);
  expect(jsonText(undefined)).toBe('null');
});

test('Markdown shows texts as they are: nothing of them is a heading, a link or the end of code', () => {
  const text = markdownText({
    title: '# [x](javascript:1)',
    facts: [
      ['By', '<b>ann</b>'],
      ['Agent', undefined],
    ],
    data: '```\nend',
    request,
  });
  expect(text).toBe(
    '### \\# \\[x\\](javascript:1)\n\n- **By:** \\<b\\>ann\\</b\\>\n\n' +
      '````json\n"```\\nend"\n````\n',
  );
  expect(markdownText({ title: 't', text: 'a\nb', data: 1, request })).toBe(
    '### t\n\n```\na\nb\n```\n',
  );
});
