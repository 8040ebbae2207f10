import 'adjutant/testing/vitest';
import { ledgerStory } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { askForTrip, failureOf, misuseOf } from './conversation.ts';

const story = `
  user: I want to go to Rome
  agent travel starts
    travel: Let me see.
    travel calls getWeather({ city: 'Rome', days: 3 })
      getWeather gives { sky: 'clear', degrees: 21 }
    session state: lastCity = 'Rome', trip = { city: 'Rome', days: 3 }
    travel calls bookTrain({ to: 'Rome' })
      bookTrain gives 'Booked to Rome'
    travel calls bookPlane()
`;

describe('toMatchLedger', () => {
  test(
    'compares the whole story: as a text, or as lines, expressions and parts ' + 'of events',
    async () => {
      const trip = await askForTrip();
      expect(trip).toMatchLedger(ledgerStory(trip));
      expect(trip.session).toMatchLedger(ledgerStory(trip).split('\n'));
      expect(trip.session.events).not.toMatchLedger(story);
      const entries = ledgerStory(trip).split('\n');
      expect(trip).toMatchLedger([
        /^user: .*Rome$/,
        { type: 'invocation_start', kind: 'agent' },
        ...entries.slice(2),
      ]);
      expect(trip).not.toMatchLedger([/^user: .*Paris$/, ...entries.slice(1)]);
      expect(trip).not.toMatchLedger(entries.slice(1));
      expect([]).toMatchLedger([]);
      expect([]).toMatchLedger('');
      expect(trip).not.toMatchLedger([]);
    },
  );

  test('other lines may lie between when it is not to be exact', async () => {
    const trip = await askForTrip();
    expect(trip).toMatchLedger(story, { exact: false });
    expect(trip).toMatchLedger(
      [
        /Let me see/,
        { type: 'tool_call', name: 'bookTrain' },
        { type: 'tool_result', result: { status: 'success' } },
      ],
      {
        exact: false,
      },
    );
    expect(trip).not.toMatchLedger([/bookTrain\(/, /getWeather\(/], { exact: false });
    expect(trip).toMatchLedger(
      [
        { type: 'model_start', round: 1 },
        { type: 'model_start', round: 3 },
      ],
      { exact: false, all: true },
    );
  });

  test('shows what differs, and the story', async () => {
    const trip = await askForTrip();
    const lines = ledgerStory(trip).split('\n');
    const expected = [
      ...lines.slice(0, 5),
      "    getWeather gives { sky: 'grey', degrees: 9 }",
      { type: 'tool_call' as const, name: 'bookTrain' },
      { type: 'cancel' as const },
      ...lines.slice(9),
    ];
    expect(failureOf(() => expect(trip).toMatchLedger(expected))).toMatchInlineSnapshot(`
      "expect(run).toMatchLedger(story)

      - Expected
      + Received

        user: I want to go to Rome
        agent travel starts
          travel: Let me see.
          travel calls getWeather({ city: 'Rome', days: 3 })
            getWeather gives { sky: 'clear', degrees: 21 }
      -     getWeather gives { sky: 'grey', degrees: 9 }
      +   session state: lastCity = 'Rome', trip = { city: 'Rome', days: 3 }
          travel calls bookTrain({ to: 'Rome' })
      - { type: 'cancel' }
      +     bookTrain gives 'Booked to Rome'
      +   travel calls bookPlane()
            error_router decides hint
            bookPlane fails (unknown_tool): There is no tool named "bookPlane". Available tools: getWeather, bookTrain. [noted: There is no such tool. Use only tools of the list that you were given.]
          travel: It is clear in Rome, and your train is booked.
          travel ends

      The whole story, as it happened:

      user: I want to go to Rome
      agent travel starts
        travel: Let me see.
        travel calls getWeather({ city: 'Rome', days: 3 })
          getWeather gives { sky: 'clear', degrees: 21 }
        session state: lastCity = 'Rome', trip = { city: 'Rome', days: 3 }
        travel calls bookTrain({ to: 'Rome' })
          bookTrain gives 'Booked to Rome'
        travel calls bookPlane()
          error_router decides hint
          bookPlane fails (unknown_tool): There is no tool named "bookPlane". Available tools: getWeather, bookTrain. [noted: There is no such tool. Use only tools of the list that you were given.]
        travel: It is clear in Rome, and your train is booked.
        travel ends"
    `);
    expect(
      failureOf(() => expect(trip).toMatchLedger([/Let me see/, 'travel flies'], { exact: false })),
    ).toMatchInlineSnapshot(`
      "expect(run).toMatchLedger(story, { exact: false })

      Not found after the first line: travel flies

        user: I want to go to Rome
        agent travel starts
      >   travel: Let me see.
          travel calls getWeather({ city: 'Rome', days: 3 })
            getWeather gives { sky: 'clear', degrees: 21 }
          session state: lastCity = 'Rome', trip = { city: 'Rome', days: 3 }
          travel calls bookTrain({ to: 'Rome' })
            bookTrain gives 'Booked to Rome'
          travel calls bookPlane()
            error_router decides hint
            bookPlane fails (unknown_tool): There is no tool named "bookPlane". Available tools: getWeather, bookTrain. [noted: There is no such tool. Use only tools of the list that you were given.]
          travel: It is clear in Rome, and your train is booked.
          travel ends"
    `);
    expect(
      failureOf(() => expect([]).toMatchLedger(['travel flies'], { exact: false })),
    ).toMatchInlineSnapshot(`
      "expect(events).toMatchLedger(story, { exact: false })

      Not found anywhere: travel flies

      (nothing happened)"
    `);
    expect(failureOf(() => expect([]).toMatchLedger(['travel flies']))).toMatchInlineSnapshot(`
      "expect(events).toMatchLedger(story)

      - Expected
      + Received

      - travel flies

      The whole story, as it happened:

      (nothing happened)"
    `);
    expect(failureOf(() => expect(trip).not.toMatchLedger(lines))).toMatchInlineSnapshot(`
      "expect(run).not.toMatchLedger(story)

      Expected another story than:

      user: I want to go to Rome
      agent travel starts
        travel: Let me see.
        travel calls getWeather({ city: 'Rome', days: 3 })
          getWeather gives { sky: 'clear', degrees: 21 }
        session state: lastCity = 'Rome', trip = { city: 'Rome', days: 3 }
        travel calls bookTrain({ to: 'Rome' })
          bookTrain gives 'Booked to Rome'
        travel calls bookPlane()
          error_router decides hint
          bookPlane fails (unknown_tool): There is no tool named "bookPlane". Available tools: getWeather, bookTrain. [noted: There is no such tool. Use only tools of the list that you were given.]
        travel: It is clear in Rome, and your train is booked.
        travel ends"
    `);
    expect(
      failureOf(() => expect(trip).not.toMatchLedger([/bookTrain/], { exact: false })),
    ).toMatchInlineSnapshot(`
      "expect(run).not.toMatchLedger(story, { exact: false })

      All of these lines come one after the other:

        user: I want to go to Rome
        agent travel starts
          travel: Let me see.
          travel calls getWeather({ city: 'Rome', days: 3 })
            getWeather gives { sky: 'clear', degrees: 21 }
          session state: lastCity = 'Rome', trip = { city: 'Rome', days: 3 }
      >   travel calls bookTrain({ to: 'Rome' })
            bookTrain gives 'Booked to Rome'
          travel calls bookPlane()
            error_router decides hint
            bookPlane fails (unknown_tool): There is no tool named "bookPlane". Available tools: getWeather, bookTrain. [noted: There is no such tool. Use only tools of the list that you were given.]
          travel: It is clear in Rome, and your train is booked.
          travel ends"
    `);
    expect(failureOf(() => expect(trip).toMatchLedger(undefined as never))).toContain(
      'No story is expected yet. The ledger tells this one:\n\nuser: I want to go to Rome',
    );
  });

  test('refuses what is no story', () => {
    expect(misuseOf(() => expect([]).toMatchLedger(7 as never))).toMatchInlineSnapshot(
      '"invalid_matcher_use: toMatchLedger() cannot be used like this: the story must be a ' +
        'text or a list of lines, not 7."',
    );
    expect(misuseOf(() => expect([]).toMatchLedger([7 as never]))).toMatchInlineSnapshot(
      '"invalid_matcher_use: toMatchLedger() cannot be used like this: entry 0 of the ' +
        'story must be a line, a regular expression or a part of an event, not 7."',
    );
    expect(
      misuseOf(() => expect([]).not.toMatchLedger([{ type: 'tool_cal' } as never])),
    ).toMatchInlineSnapshot(
      '"invalid_matcher_use: toMatchLedger() cannot be used like this: there is no event ' +
        'type "tool_cal" (did you mean "tool_call"?)."',
    );
    expect(
      misuseOf(() => expect([]).not.toMatchLedger([{ type: 'model_start' }])),
    ).toMatchInlineSnapshot(
      '"invalid_matcher_use: toMatchLedger() cannot be used like this: a story has no ' +
        'events of type model_start unless all are wanted: toMatchLedger(story, { all: true ' +
        '})."',
    );
    expect(misuseOf(() => expect([]).toMatchLedger([], { exact: false }))).toMatchInlineSnapshot(
      '"invalid_matcher_use: toMatchLedger() cannot be used like this: an empty story is ' +
        'part of every other; without { exact: false } it says that nothing happened."',
    );
    expect(
      misuseOf(() => expect([]).toMatchLedger('x', { strict: true } as never)),
    ).toMatchInlineSnapshot(
      '"invalid_matcher_use: toMatchLedger() cannot be used like this: there is no option ' +
        '`strict` (the options are exact, all, order, longest)."',
    );
    expect(misuseOf(() => expect([]).not.toMatchLedger(undefined as never))).toMatchInlineSnapshot(
      '"invalid_matcher_use: toMatchLedger() cannot be used like this: there is no story ' +
        'that it could be unlike."',
    );
  });
});
