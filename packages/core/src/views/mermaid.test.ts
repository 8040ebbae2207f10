import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { testClock } from '../base/clocks/test-clock.ts';
import type { Event } from '../ledger/event.ts';
import { agent } from '../runnables/agent.ts';
import { sequence } from '../runnables/sequence.ts';
import { step } from '../runnables/step.ts';
import { runtime } from '../runtime.ts';
import { scriptedModel } from '../testing/kit/scripted-model.ts';
import { tool } from '../tools/tool.ts';
import { runMermaid } from './mermaid.ts';

async function recorded(): Promise<readonly Event[]> {
  const clock = testClock();
  const add = tool({
    name: 'add',
    description: 'Adds',
    schema: z.object({}),
    execute: () => clock.advance(1_500),
  });
  const model = scriptedModel([{ toolCalls: [{ name: 'add' }, { name: 'ad' }] }, { text: 'one' }]);
  const clerk = agent({ name: 'clerk', model, tools: [add] });
  const app = runtime({ app: 'shop', ports: { clock } });
  const all = sequence({
    name: 'all',
    runnables: [clerk, step({ name: 'bad', execute: (ctx) => ctx.fail('no luck') })],
  });
  const { session } = await app.run(all, { runId: 'first' });
  await app.run(step({ name: 'good', execute: () => undefined }), { session, runId: 'second' });
  return session.events;
}

describe('the chart of a run', () => {
  test('has a node for each invocation and tool call, in the colour of its end', async () => {
    expect(runMermaid(await recorded()).split('\n')).toEqual([
      'flowchart TB',
      '  n1["✗ all<br/>sequence error<br/>1.5 s · 30 tokens"]:::failed',
      '  n2["✓ clerk<br/>agent completed<br/>1.5 s · 30 tokens"]:::completed',
      '  n1 --> n2',
      '  n3(["✓ add<br/>1.5 s"]):::completed',
      '  n2 --> n3',
      '  n4(["✗ ad<br/>error_permanent · 0 ms"]):::failed',
      '  n2 --> n4',
      '  n5["✗ bad<br/>step error<br/>0 ms · 0 tokens"]:::failed',
      '  n1 --> n5',
      '  n6["✓ good<br/>step completed<br/>0 ms · 0 tokens"]:::completed',
      ...['completed', 'failed', 'cancelled', 'waiting', 'open'].map((name) =>
        expect.stringMatching(`^ {2}classDef ${name} fill:`),
      ),
    ]);
  });

  test('can be of one run only, without tools, from left to right', async () => {
    const events = await recorded();
    const chart = runMermaid(events, { run: 'first', toolCalls: false, direction: 'LR' });
    expect(chart).toMatch(/^flowchart LR\n/);
    expect(chart.match(/^ {2}n\d+\[/gm)).toHaveLength(3);
    expect(chart).not.toContain('good');
    expect(runMermaid(events, { run: 'nobody' })).not.toContain('n1');
    expect(runMermaid([])).toMatch(/^flowchart TB\n {2}classDef/);
  });

  test('shows who handed over to whom', async () => {
    const events = await recorded();
    const start = events.find(
      (event) => event.type === 'invocation_start' && event.name === 'clerk',
    ) as Event;
    const next = {
      ...start,
      seq: events.length + 1,
      invocationId: `${start.invocationId}>boss`,
      name: 'boss',
      mode: 'transfer',
    } as Event;
    const child = {
      ...next,
      seq: events.length + 2,
      invocationId: `${next.invocationId}/clerk`,
      mode: 'call',
    } as Event;
    const chart = runMermaid([...events, next, child]);
    expect(chart).toMatch(/ {2}n2 -\. handed over \.-> n6\n/);
    expect(chart).toMatch(/ {2}n6 --> n7\n/);
    expect(chart.match(/handed over/g)).toHaveLength(1);
  });

  test('no text of a ledger becomes part of it', async () => {
    const [start] = await recorded();
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (name) => {
        const event = {
          ...start,
          type: 'invocation_start',
          kind: 'step',
          mode: 'root',
          name,
          invocationId: 'run',
          seq: 1,
        } as Event;
        const [, node = '', ...others] = runMermaid([event]).split('\n');
        expect(node).toMatch(
          /^ {2}n1\["…(?: [^"<>&[\](){}|`\\\n]*)?<br\/>step open<br\/>0 ms · 0 tokens"\]:::open$/,
        );
        expect(others).toHaveLength(5);
      }),
    );
    const event = {
      ...start,
      type: 'invocation_start',
      kind: 'step',
      mode: 'root',
      name: 'a"]:::x\n click n1 "javascript:alert(1)" <b>#',
      invocationId: 'r',
    } as Event;
    expect(runMermaid([event])).toContain(
      'n1["… a#34;#93;:::x  click n1 #34;javascript:alert#40;1#41;#34; #60;b#62;#35;<br/>',
    );
  });

  test.for<[unknown, string]>([
    [{ runs: 'x' }, 'did you mean `run`?'],
    [{ direction: 'UP' }, "`direction` must be one of 'TB', 'LR'"],
    [{ toolCalls: 'no' }, '`toolCalls` must be true or false'],
  ])('an option that cannot work is refused: %j', ([options, message]) => {
    expect(() => runMermaid([], options as never)).toThrow(message);
  });
});
