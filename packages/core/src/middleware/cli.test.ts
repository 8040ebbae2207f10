import { expect, test } from 'vitest';
import type { StreamEvent } from '../ledger/event.ts';
import { cliMiddleware } from './cli.ts';

function printed(events: readonly object[]): string {
  let text = '';
  const { onStream } = cliMiddleware({
    write: (piece) => {
      text += piece;
    },
  });
  for (const event of events)
    onStream?.({ invocationId: 'run', agent: 'ann', ...event } as StreamEvent);
  return text;
}

test('answers are written as they come, and not again when they are whole', () => {
  const events = [
    { type: 'assistant_delta', delta: 'Hel' },
    { type: 'assistant_delta', delta: 'lo' },
    { type: 'assistant', text: 'Hello' },
    { type: 'model_end' },
    { type: 'assistant', text: 'Not streamed' },
  ];
  expect(printed(events)).toBe('[ann] Hello\n[ann] Not streamed\n');
});

test('a recorded text may come after the deltas of what follows it', () => {
  const events = [
    { type: 'assistant_delta', delta: 'One.' },
    { type: 'assistant_delta', delta: 'Two.' },
    { type: 'assistant', text: 'One.' },
    { type: 'model_end' },
    { type: 'assistant', text: 'Two.' },
    { type: 'assistant', text: 'Three.' },
  ];
  expect(printed(events)).toBe('[ann] One.Two.\n[ann] Three.\n');
});

test('what was changed after it was streamed is written as it is now', () => {
  const events = [
    { type: 'assistant_delta', delta: 'Bob' },
    { type: 'assistant', text: '[name]' },
    { type: 'assistant_delta', delta: 'ok' },
    { type: 'assistant', text: 'ok' },
  ];
  expect(printed(events)).toBe('[ann] Bob[name]\n[ann] ok\n');
});

test('agents beside each other are named', () => {
  const events = [
    { type: 'assistant_delta', delta: 'a' },
    { type: 'assistant_delta', agent: 'bob', invocationId: 'run/bob', delta: 'b' },
    { type: 'assistant_delta', delta: 'c' },
  ];
  expect(printed(events)).toBe('[ann] a\n[bob] b\n[ann] c');
});

test('calls, failures and questions have a line each, without arguments and results', () => {
  const events = [
    { type: 'assistant_delta', delta: 'I look.' },
    { type: 'tool_call', name: 'find', args: { password: 'hunter2' } },
    {
      type: 'tool_result',
      name: 'find',
      settled: true,
      result: { status: 'success', content: 'hunter2' },
    },
    {
      type: 'tool_result',
      name: 'find',
      settled: false,
      result: { status: 'timeout', content: '' },
    },
    {
      type: 'tool_result',
      name: 'find',
      settled: true,
      result: { status: 'error_permanent', errorType: 'http_404', content: 'hunter2' },
    },
    { type: 'tool_yield', request: { summary: 'May I\nsend it?' } },
    { type: 'error', error: { message: 'Lost.' } },
    { type: 'invocation_end', status: 'error', error: { message: 'Failed.' } },
    { type: 'invocation_end', status: 'completed' },
    { type: 'thought', text: 'hunter2' },
  ];
  expect(printed(events)).toBe(
    '[ann] I look.\n→ find\n✗ find: http_404\n? May I send it?\n✗ Lost.\n✗ Failed.\n',
  );
});

test('an answer that begins again says so', () => {
  const events = [
    { type: 'assistant_delta', delta: 'Hel' },
    { type: 'stream_reset' },
    { type: 'assistant', text: 'Hello' },
  ];
  expect(printed(events)).toBe('[ann] Hel\n(the answer begins again)\n[ann] Hello\n');
});

test('control characters do not reach the terminal', () => {
  const events = [
    { type: 'assistant_delta', delta: '\u001b[2Jred\u0007\ttab\r\nline\u009b' },
    { type: 'tool_call', name: '\u001b]0;title\u0007' },
  ];
  expect(printed(events)).toBe(
    '[ann] \\u001b[2Jred\\u0007\ttab\nline\\u009b\n→ \\u001b]0;title\\u0007\n',
  );
});

test('options that do not exist are refused', () => {
  expect(() => cliMiddleware({ out: 1 } as never)).toThrow('cliMiddleware() cannot be set up');
});
