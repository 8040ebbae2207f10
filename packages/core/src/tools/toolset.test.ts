import { describe, expect, test } from 'vitest';
import { toolWireName } from '../ledger/tool-name.ts';
import { tool } from './tool.ts';
import { toolset, unknownToolMessage } from './toolset.ts';

const named = (name: string) => tool({ name, description: '', schema: {}, execute: () => name });

describe('toolset', () => {
  test('keeps the order, finds by name, forgets what is removed', () => {
    const tools = toolset([named('b'), named('a')]);
    tools.add(named('c'));
    expect(tools.list().map(({ name }) => name)).toEqual(['b', 'a', 'c']);
    expect(tools.get('a')?.name).toBe('a');
    expect(tools.get('toString')).toBeUndefined();
    expect([tools.remove('a'), tools.remove('a'), tools.has('a'), tools.size]).toEqual([
      true,
      false,
      false,
      2,
    ]);
    tools.add(named('a'));
    expect(tools.list().map(({ name }) => name)).toEqual(['b', 'c', 'a']);
  });

  test('the list is frozen, and stays the same until something changes', () => {
    const tools = toolset([named('a')]);
    const before = tools.list();
    expect(tools.list()).toBe(before);
    expect(Object.isFrozen(before)).toBe(true);
    tools.add(named('b'));
    expect(before).toHaveLength(1);
    expect(tools.list()).toHaveLength(2);
  });

  test('a name that is taken is refused, naming the place, and nothing is added', () => {
    const tools = toolset([named('a')], 'The agent "support"');
    expect(() => tools.add(named('b'), named('a'))).toThrow(
      expect.objectContaining({
        code: 'duplicate_tool',
        message: expect.stringContaining('The agent "support" has two tools named "a"'),
      }),
    );
    expect(tools.has('b')).toBe(false);
    expect(() => toolset([named('x'), named('x')])).toThrow(
      expect.objectContaining({ code: 'duplicate_tool' }),
    );
  });

  test('name spaces', () => {
    const tools = toolset([named('add')]);
    tools.registerTools('math', [named('add'), named('sub')]);
    expect(tools.list().map(({ name }) => name)).toEqual(['add', 'math.add', 'math.sub']);
    tools.registerTools('a.b', [named('c')]);
    expect(tools.get('a.b.c')).toMatchObject({ name: 'a.b.c' });
    expect(Object.isFrozen(tools.get('math.add'))).toBe(true);
    expect(() => tools.registerTools('no spaces', [named('c')])).toThrow(
      expect.objectContaining({ code: 'invalid_tool' }),
    );
    expect(() => tools.registerTools('n'.repeat(60), [named('long')])).toThrow(
      expect.objectContaining({ code: 'invalid_tool' }),
    );
  });

  test.each(['plain', 'math.add', 'a.b.c', 'mcp__files__read', 'a_.b', 'a__b.c'])(
    '%s comes back from what a provider is shown',
    (name) => {
      const wire = toolWireName(name);
      expect(wire).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
      const tools = toolset([named(name), named('other')]);
      expect(tools.fromWireName(wire)).toBe(name);
      expect(tools.fromWireName(name)).toBe(name);
      tools.remove(name);
      expect(tools.fromWireName(wire)).toBeUndefined();
    },
  );

  test('names that a model could not tell apart are refused', () => {
    const tools = toolset([named('a.b')]);
    expect(() => tools.add(named('a__b'))).toThrow(
      expect.objectContaining({
        code: 'duplicate_tool',
        message: expect.stringMatching(/"a\.b" and "a__b".*could not tell apart/),
      }),
    );
    tools.remove('a.b');
    tools.add(named('a__b'));
    expect(tools.fromWireName('a__b')).toBe('a__b');
  });
});

describe('unknownToolMessage', () => {
  test('names the nearest tool and those there are', () => {
    expect(unknownToolMessage('read_file', ['listFiles', 'readFile'])).toBe(
      'There is no tool named "read_file". Did you mean "readFile"? Available tools: ' +
        'listFiles, readFile.',
    );
    expect(unknownToolMessage('sendMail', ['readFile'])).toBe(
      'There is no tool named "sendMail". Available tools: readFile.',
    );
    expect(unknownToolMessage('x', [])).toBe('There is no tool named "x". No tools are available.');
  });

  test('is short, however many tools there are and however long the name', () => {
    const names = Array.from({ length: 45 }, (_, i) => `tool${i}`);
    const message = unknownToolMessage('z'.repeat(100_000), names);
    expect(message).toContain('tool29 and 15 more.');
    expect(message).not.toContain('tool30');
    expect(message.length).toBeLessThan(500);
  });
});
