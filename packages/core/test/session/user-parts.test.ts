import { agent, type EventDraft, type RunOptions, run, runtime } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';

/** An event of a user as it is given, which may have no text. */
const said = (event: Readonly<Record<string, unknown>>): EventDraft =>
  ({ type: 'user', by: 'user', ...event }) as EventDraft;

const image = { type: 'file', artifact: 'a1', mediaType: 'image/png' };
const text = (words: string) => ({ type: 'text', text: words });

async function opened() {
  const model = scriptedModel([{ text: 'I see.' }]);
  const clerk = agent({ name: 'clerk', model });
  const app = runtime({ app: 'shop', runnables: [clerk] });
  return { app, clerk, model, session: await app.sessions.open({ id: 's' }) };
}

describe('parts of a message of a user that is appended', () => {
  test.each([
    ['stand for a text that is missing', { parts: [text('One.'), text('Two.')] }, 'One.\n\nTwo.'],
    ['follow a text', { text: 'One.', parts: [text('Two.')] }, 'One.\n\nTwo.'],
    ['are not repeated', { text: 'One.', parts: [text('One.')] }, 'One.'],
    ['may be none', { text: 'One.', parts: [] }, 'One.'],
  ])('%s', async (_name, event, expected) => {
    const { app, clerk, model, session } = await opened();
    const [appended] = session.append([said(event)]);
    expect(appended).toMatchObject({ type: 'user', text: expected });
    expect(appended).not.toHaveProperty('parts');
    await app.run(clerk, { session });
    expect(model.calls[0]?.prompt).toMatchObject([
      { role: 'user', content: [{ type: 'text', text: expected }] },
    ]);
  });

  test.each([
    ['a file', [text('Look:'), image], '`parts[1]` (of the type "file")'],
    ['a part without a type', [{ text: 'x' }], '`parts[0]` (of no type)'],
    ['text that is no string', [{ type: 'text', text: 3 }], '`parts[0]` (of the type "text")'],
    ['no list', 'Look', '`parts` that is no list'],
  ])('are refused: %s', async (_name, parts, told) => {
    const { session } = await opened();
    expect(() => session.append([said({ text: 'Hi' }), said({ text: 'Look', parts })])).toThrow(
      expect.objectContaining({
        code: 'message_part_unsupported',
        message:
          `Event 1 cannot be appended: a message is text, and ${told} would not reach the model. ` +
          'Put what it says into `text`, or give the agent a tool that reads it.',
      }),
    );
    expect(session.events).toEqual([]);
  });

  test('a text that is missing without parts is told as before', async () => {
    const { session } = await opened();
    expect(() => session.append([said({})])).toThrow(
      /`text` is missing in an event of type "user"/,
    );
  });
});

describe('a run', () => {
  const clerk = agent({ name: 'clerk', model: scriptedModel([]) });

  test.each<[string, unknown, string]>([
    [
      'parts as its input',
      { input: [text('Hi')] },
      '`input` must be a string (messages are text: join the texts of parts), not a list',
    ],
    [
      'files',
      { input: 'Look', files: [image] },
      'there is no option `files` (a message is text: put what a file says into `input`, or give ' +
        'the agent a tool that reads it)',
    ],
    [
      'parts',
      { parts: [image] },
      'there is no option `parts` (a message is text: put what a file says into `input`, or give ' +
        'the agent a tool that reads it)',
    ],
  ])('with %s is refused', (_name, options, told) => {
    expect(() => run(clerk, options as RunOptions)).toThrow(told);
  });
});
