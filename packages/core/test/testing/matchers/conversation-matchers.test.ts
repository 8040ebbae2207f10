import 'adjutant/testing/vitest';
import { agent, run, runtime, tool } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { askForTrip, failureOf, misuseOf } from './conversation.ts';

let trip: Awaited<ReturnType<typeof askForTrip>>;
beforeAll(async () => {
  trip = await askForTrip();
});

describe('toHaveAssistantText', () => {
  test(
    'finds a text that has the string in it, that an expression fits, or an asymmetric ' +
      'matcher',
    () => {
      expect(trip.session).toHaveAssistantText('train is booked');
      expect(trip.session.events).toHaveAssistantText(/^let me see\.$/i);
      expect(trip).toHaveAssistantText(expect.stringMatching(/clear/));
      expect(trip).not.toHaveAssistantText('plane');
      expect(trip).not.toHaveAssistantText(/^booked/);
    },
  );

  test('a global expression finds the same each time', () => {
    const clear = /clear/g;
    for (let time = 0; time < 3; time++) expect(trip).toHaveAssistantText(clear);
  });

  test('says what was said instead', () => {
    expect(
      failureOf(() => expect(trip.session).toHaveAssistantText(/snow/)),
    ).toMatchInlineSnapshot(`
      "expect(session).toHaveAssistantText(text)

      Expected text: /snow/
      What was said:
        1. travel: Let me see.
        2. travel: It is clear in Rome, and your train is booked."
    `);
    expect(
      failureOf(() => expect(trip.session.events).not.toHaveAssistantText('Rome')),
    ).toMatchInlineSnapshot(`
      "expect(events).not.toHaveAssistantText(text)

      Expected text: not "Rome"
      It was said:
        1. travel: It is clear in Rome, and your train is booked."
    `);
    expect(failureOf(() => expect([]).toHaveAssistantText('Rome'))).toMatchInlineSnapshot(`
      "expect(events).toHaveAssistantText(text)

      Expected text: "Rome"
      No assistant said anything."
    `);
  });

  test('refuses an expectation that is no text, with and without not', () => {
    expect(misuseOf(() => expect(trip).toHaveAssistantText(4 as never))).toMatchInlineSnapshot(
      '"invalid_matcher_use: toHaveAssistantText() cannot be used like this: the text must ' +
        'be a string, a regular expression or an asymmetric matcher, not 4."',
    );
    expect(
      misuseOf(() => expect(trip).not.toHaveAssistantText(undefined as never)),
    ).toMatchInlineSnapshot(
      '"invalid_matcher_use: toHaveAssistantText() cannot be used like this: the text must ' +
        'be a string, a regular expression or an asymmetric matcher, not undefined."',
    );
    expect(misuseOf(() => expect(trip).toHaveAssistantText(''))).toMatchInlineSnapshot(
      '"invalid_matcher_use: toHaveAssistantText() cannot be used like this: every text ' +
        'has an empty one in it."',
    );
  });
});

describe('toHaveToolCall', () => {
  test('finds a call by its name and by all its arguments', () => {
    expect(trip.session).toHaveToolCall('getWeather');
    expect(trip.session.events).toHaveToolCall('getWeather', { city: 'Rome', days: 3 });
    expect(trip).toHaveToolCall('getWeather', {
      days: expect.any(Number),
      city: expect.stringContaining('om'),
    });
    expect(trip).toHaveToolCall('getWeather', expect.objectContaining({ city: 'Rome' }));
    expect(trip).not.toHaveToolCall('getWeather', { city: 'Rome' });
    expect(trip).not.toHaveToolCall('getWeather', { city: 'Rome', days: 3, more: 1 });
    expect(trip).not.toHaveToolCall('getTides');
  });

  test('says what was called instead', () => {
    expect(
      failureOf(() => expect(trip).toHaveToolCall('getWeather', { city: 'Paris', days: 3 })),
    ).toMatchInlineSnapshot(`
      "expect(run).toHaveToolCall(name, args)

      Expected call: getWeather({ city: 'Paris', days: 3 })
      Calls of getWeather:
        1. getWeather({ city: 'Rome', days: 3 })

      Difference:

      - Expected
      + Received

        {
      -   "city": "Paris",
      +   "city": "Rome",
          "days": 3,
        }"
    `);
    expect(failureOf(() => expect(trip).toHaveToolCall('getwether'))).toMatchInlineSnapshot(`
      "expect(run).toHaveToolCall(name)

      Expected call: getwether
      getwether was never called. Did you mean getWeather? The calls were:
        1. getWeather({ city: 'Rome', days: 3 })
        2. bookTrain({ to: 'Rome' })
        3. bookPlane({})"
    `);
    expect(
      failureOf(() => expect([]).toHaveToolCall('getWeather', { city: 'Rome' })),
    ).toMatchInlineSnapshot(`
      "expect(events).toHaveToolCall(name, args)

      Expected call: getWeather({ city: 'Rome' })
      No tool was called."
    `);
    expect(
      failureOf(() => expect(trip).not.toHaveToolCall('bookTrain', { to: expect.any(String) })),
    ).toMatchInlineSnapshot(`
      "expect(run).not.toHaveToolCall(name, args)

      Expected call: not bookTrain({ to: Any<String> })
      It was made:
        1. bookTrain({ to: 'Rome' })"
    `);
  });

  test('shows the difference to the call that comes nearest', async () => {
    const note = tool({
      name: 'note',
      description: 'Notes',
      schema: z.object({ page: z.int(), text: z.string() }),
      execute: () => 'noted',
    });
    const calls = [1, 2, 3].map((page) => ({
      toolCalls: [{ name: 'note', args: { page, text: `page ${page}` } }],
    }));
    const result = await run(
      agent({ name: 'writer', model: scriptedModel([...calls, { text: 'done' }]), tools: [note] }),
      'Write',
    );
    expect(
      failureOf(() =>
        expect(result).toHaveToolCall('note', { page: 2, text: expect.stringMatching(/^Page/) }),
      ),
    ).toMatchInlineSnapshot(`
      "expect(run).toHaveToolCall(name, args)

      Expected call: note({ page: 2, text: StringMatching(/^Page/) })
      Calls of note:
        1. note({ page: 1, text: 'page 1' })
        2. note({ page: 2, text: 'page 2' })
        3. note({ page: 3, text: 'page 3' })

      Difference to the nearest, number 2:

      - Expected
      + Received

        {
          "page": 2,
      -   "text": StringMatching /^Page/,
      +   "text": "page 2",
        }"
    `);
  });

  test('compares what the model asked for, and shows what a person made of it', async () => {
    const pay = tool({
      name: 'pay',
      description: 'Pays',
      schema: z.object({ cents: z.int() }),
      approval: { allowEdit: true },
      execute: (ctx) => ctx.args.cents,
    });
    const payer = agent({
      name: 'payer',
      model: scriptedModel([
        { toolCalls: [{ name: 'pay', args: { cents: 900 } }] },
        { text: 'Paid.' },
      ]),
      tools: [pay],
    });
    const app = runtime({ app: 'shop', runnables: [payer] });
    const asked = await app.run(payer, 'Pay');
    await app.requests.answer(asked.pendingApprovals[0]?.requestId ?? '', {
      decision: 'edit',
      input: { cents: 300 },
    });
    const paid = await app.run(payer, { session: asked.session });
    expect(paid.session).toHaveToolCall('pay', { cents: 900 });
    expect(
      failureOf(() => expect(paid.session).toHaveToolCall('pay', { cents: 300 })),
    ).toMatchInlineSnapshot(`
      "expect(session).toHaveToolCall(name, args)

      Expected call: pay({ cents: 300 })
      Calls of pay:
        1. pay({ cents: 900 }), which somebody edited to pay({ cents: 300 })

      Difference:

      - Expected
      + Received

        {
      -   "cents": 300,
      +   "cents": 900,
        }"
    `);
  });

  test('refuses a name that is none', () => {
    expect(
      misuseOf(() => expect(trip).toHaveToolCall({ name: 'getWeather' } as never)),
    ).toMatchInlineSnapshot(
      '"invalid_matcher_use: toHaveToolCall() cannot be used like this: the name must be ' +
        'that of a tool, not an object."',
    );
    expect(misuseOf(() => expect(trip).not.toHaveToolCall(''))).toMatchInlineSnapshot(
      '"invalid_matcher_use: toHaveToolCall() cannot be used like this: the name must be ' +
        'that of a tool, not ""."',
    );
  });
});

describe('toHaveToolOrder', () => {
  test('others may lie between, unless it is to be exact', () => {
    expect(trip).toHaveToolOrder(['getWeather', 'bookPlane']);
    expect(trip).toHaveToolOrder(['bookTrain']);
    expect(trip).toHaveToolOrder(['getWeather', 'bookTrain', 'bookPlane'], { exact: true });
    expect(trip).not.toHaveToolOrder(['getWeather', 'bookPlane'], { exact: true });
    expect(trip).not.toHaveToolOrder(['bookTrain', 'getWeather']);
    expect(trip).not.toHaveToolOrder(['bookTrain', 'bookTrain']);
    expect([]).toHaveToolOrder([], { exact: true });
    expect(trip).not.toHaveToolOrder([], { exact: true });
  });

  test('says where the order ends', () => {
    expect(
      failureOf(() => expect(trip).toHaveToolOrder(['bookTrain', 'getWeather'])),
    ).toMatchInlineSnapshot(`
      "expect(run).toHaveToolOrder(names)

      Expected order: bookTrain, getWeather
      Calls:
        1. getWeather
        2. bookTrain
        3. bookPlane
      getWeather is not called after bookTrain."
    `);
    expect(
      failureOf(() => expect(trip).toHaveToolOrder(['getWeather', 'bookTrian'])),
    ).toMatchInlineSnapshot(`
      "expect(run).toHaveToolOrder(names)

      Expected order: getWeather, bookTrian
      Calls:
        1. getWeather
        2. bookTrain
        3. bookPlane
      bookTrian was never called. Did you mean bookTrain?"
    `);
    expect(
      failureOf(() => expect(trip).toHaveToolOrder(['getWeather', 'bookPlane'], { exact: true })),
    ).toMatchInlineSnapshot(`
      "expect(run).toHaveToolOrder(names, { exact: true })

      Expected order: getWeather, bookPlane
      Calls:
        1. getWeather
        2. bookTrain
        3. bookPlane

      - Expected
      + Received

        [
          "getWeather",
      +   "bookTrain",
          "bookPlane",
        ]"
    `);
    expect(
      failureOf(() => expect(trip).not.toHaveToolOrder(['getWeather', 'bookTrain'])),
    ).toMatchInlineSnapshot(`
      "expect(run).not.toHaveToolOrder(names)

      Expected order: not getWeather, bookTrain
      Calls:
        1. getWeather
        2. bookTrain
        3. bookPlane"
    `);
  });

  test('refuses what is no order', () => {
    expect(misuseOf(() => expect(trip).toHaveToolOrder([]))).toMatchInlineSnapshot(
      '"invalid_matcher_use: toHaveToolOrder() cannot be used like this: an empty order is ' +
        'always kept; with { exact: true } it says that no tool is called."',
    );
    expect(
      misuseOf(() => expect(trip).toHaveToolOrder('getWeather' as never)),
    ).toMatchInlineSnapshot(
      '"invalid_matcher_use: toHaveToolOrder() cannot be used like this: the order must be ' +
        'a list of names of tools, not "getWeather"."',
    );
    expect(
      misuseOf(() => expect(trip).toHaveToolOrder(['getWeather'], { exakt: true } as never)),
    ).toMatchInlineSnapshot(
      '"invalid_matcher_use: toHaveToolOrder() cannot be used like this: there is no ' +
        'option `exakt` (did you mean `exact`?)."',
    );
    expect(
      misuseOf(() => expect(trip).not.toHaveToolOrder(['getWeather'], { exact: 'yes' } as never)),
    ).toMatchInlineSnapshot(
      '"invalid_matcher_use: toHaveToolOrder() cannot be used like this: `exact` must be ' +
        'true or false, not "yes"."',
    );
  });
});
