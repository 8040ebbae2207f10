import { describe, expect, test } from 'vitest';
import { ideaHint } from '../../src/base/option-names.ts';

const agent = ['name', 'model', 'instructions', 'input', 'tools', 'limits', 'toolConcurrency'];

describe('ideaHint', () => {
  test.each([
    ['system_prompt', agent, 'it is `instructions` here'],
    ['max-turns', agent, 'it is `limits.rounds` here'],
    ['maxTurns', ['maxIterations', 'runnable'], 'it is `maxIterations` here'],
    ['timeout', ['timeoutMs'], 'it is called `timeoutMs` now'],
    ['maxRetries', ['attempts'], 'it is called `attempts` now and counts the first attempt too'],
    ['maxRetries', ['retry'], 'it is `retry.attempts` here and counts the first attempt too'],
    ['message', ['input', 'data'], 'it is `input` here'],
  ])('%s', (name, options, hint) => {
    expect(ideaHint(name, options)).toBe(hint);
  });

  test.each([
    ['a name that stands for nothing', 'colour', agent],
    ['an idea that the place does not have', 'systemPrompt', ['path', 'busyTimeoutMs']],
    ['an idea that is told at other places only', 'memory', ['path', 'busyTimeoutMs']],
    ['a name that means something else here', 'message', agent],
    ['a member of all objects', 'toString', agent],
  ])('%s has no hint', (_title, name, options) => {
    expect(ideaHint(name, options)).toBeUndefined();
  });
});
