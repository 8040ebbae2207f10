import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { hostileReport, sampleReport } from '../../../test/eval/sample-report.ts';
import type { EvalReport } from '../report.ts';
import { evalReportHtml } from './report-page.ts';

const sample = sampleReport({ cases: 12, trials: 3 });

/**
 * Returns the text that a reader without a browser sees: the page without its tags, its style and
 * its script.
 */
function textOf(page: string): string {
  const body = page.slice(page.indexOf('<body>'), page.lastIndexOf('<script>'));
  const entities: Record<string, string> = {
    '&lt;': '<',
    '&gt;': '>',
    '&quot;': '"',
    '&#39;': "'",
    '&amp;': '&',
  };
  return body
    .replace(/<[^>]*>/g, ' ')
    .replace(/&(lt|gt|quot|amp|#39);/g, (entity) => entities[entity] ?? entity);
}

/** Names of all elements of a page, each once. */
function elements(page: string): readonly string[] {
  return [
    ...new Set([...page.matchAll(/<([a-z][a-z0-9]*)/g)].map(([, name]) => name ?? '')),
  ].toSorted();
}

function withText(text: string): EvalReport {
  const [variant] = sample.variants;
  const [one] = variant?.cases ?? [];
  const [trial] = one?.trials ?? [];
  if (variant === undefined || one === undefined || trial === undefined)
    throw new Error('the sample is empty');
  const said = {
    ...trial,
    session: text,
    turns: [{ user: text, assistant: text, toolCalls: [{ name: text, args: { [text]: text } }] }],
  };
  return {
    ...sample,
    name: text,
    runId: text,
    methods: text,
    comparisons: [],
    variants: [
      {
        ...variant,
        name: text,
        cases: [{ ...one, id: text, description: text, tags: [text], trials: [said] }],
      },
    ],
  };
}

describe('what the page says', () => {
  test(
    'the verdict with its reason, the rates, the scores, and each case with the reason of ' +
      'its first failure',
    () => {
      const text = textOf(evalReportHtml(sample));
      const [first, second] = sample.variants;
      expect(text).toMatch(/Not passed\s+80% of the trials must pass\./);
      expect(text).toContain(`${first?.summary.passed} of 36 trials passed`);
      for (const scorer of Object.keys(second?.summary.scores ?? {}))
        expect(text).toContain(scorer);
      for (const { id, trials } of first?.cases ?? []) {
        expect(text).toContain(id);
        const failed = trials.find(({ passed }) => !passed);
        const reason =
          failed?.error?.message ?? failed?.scores.find(({ passed }) => !passed)?.explanation;
        if (reason !== undefined) expect(text).toContain(reason);
      }
    },
  );

  test('an eval that was stopped says how far it came, not whether it passed', () => {
    const { finishedAt: _, ...stopped } = sample;
    const text = textOf(evalReportHtml({ ...stopped, done: 41, total: 1_072 }));
    expect(text).toContain('Stopped after 41 of 1,072 trials.');
    expect(text).not.toContain('Not passed');
  });

  test('an eval that passed says what it had to reach', () => {
    expect(textOf(evalReportHtml({ ...sample, passed: true, threshold: 0.5 }))).toContain(
      'Every variant reaches the required 50%.',
    );
  });

  test('nothing at all is a page, too', () => {
    const nothing = sampleReport({ cases: 0, trials: 1, variants: ['the app'] });
    expect(textOf(evalReportHtml(nothing))).toContain('the app  has no trials.');
    expect(textOf(evalReportHtml({ ...nothing, variants: [], comparisons: [] }))).toContain(
      '0 cases',
    );
  });

  test('the command for a session is the one that was given', () => {
    const text = textOf(
      evalReportHtml(sample, {
        sessionCommand: (session, variant) => `look ${session} of ${variant}`,
      }),
    );
    expect(text).toContain('look eval/evr_2f8c1d90/1/0/1 of gpt-5-mini, short prompt');
    expect(textOf(evalReportHtml(withText("it's; rm -rf /")))).toContain(
      `adjutant show 'it'\\''s; rm -rf /' --tree`,
    );
    expect(textOf(evalReportHtml(withText('--store')))).toContain(
      'adjutant show --tree -- --store',
    );
  });
});

describe('a hostile report', () => {
  test('brings no element and no attribute into the page', () => {
    const page = evalReportHtml(hostileReport());
    expect(elements(page)).toEqual(
      elements(evalReportHtml(sample)).filter((name) => elements(page).includes(name)),
    );
    expect(page.match(/<script>/g)).toHaveLength(1);
    expect(page.replace(/="[^"]*"/g, '').match(/<[^>]*\son[a-z]+/g)).toBeNull();
    expect(page.indexOf('<img')).toBe(-1);
  });

  test('shows characters that cannot be seen or that turn the writing', () => {
    const page = evalReportHtml(withText('a\u0000b\u001b[31mc\u202ed\u2066e\u0085f\ud800g\rh'));
    expect(textOf(page)).toContain('a␀b␛[31mc[U+202E]d[U+2066]e[U+0085]f\ufffdg␍h');
    expect(page).not.toMatch(
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that must not be there
      /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\ud800-\udfff]/,
    );
  });

  test('texts of any length are shortened, and say by how much', () => {
    const page = evalReportHtml(withText(`start ${'x'.repeat(10_000_000)}`));
    expect(page.length).toBeLessThan(150_000);
    expect(textOf(page)).toContain('(9,996,006 more characters)');
  });

  test('any text is shown as it is where it has nothing to hide', () => {
    const anyText = fc.string({
      unit: fc.constantFrom(
        '<',
        '>',
        '&',
        '"',
        "'",
        '`',
        '=',
        '/',
        '-',
        '!',
        'a',
        ']',
        '$',
        '{',
        '}',
        ';',
        '#',
        'x',
        'ö',
        '😀',
      ),
      maxLength: 60,
      minLength: 1,
    });
    fc.assert(
      fc.property(anyText, (text) => {
        expect(textOf(evalReportHtml(withText(`q${text}q`)))).toContain(`q${text}q`);
      }),
      { numRuns: 60 },
    );
  });
});

test('the policy lets in the style and the script of the page and nothing else', () => {
  const page = evalReportHtml(sample);
  const policy =
    /http-equiv="Content-Security-Policy" content="([^"]*)"/
      .exec(page)?.[1]
      ?.replaceAll('&#39;', "'") ?? '';
  for (const tag of ['style', 'script']) {
    const text = page.slice(
      page.lastIndexOf(`<${tag}>`) + tag.length + 2,
      page.lastIndexOf(`</${tag}>`),
    );
    expect(policy).toContain(
      `${tag}-src 'sha256-${createHash('sha256').update(text).digest('base64')}'`,
    );
  }
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toContain('unsafe');
  expect(page).not.toMatch(/\s(style|src|onclick)=|https?:|url\(|@import/);
});

test(
  'where there is too much for a page, cases that did not pass keep their details and the ' +
    'rest name their sessions',
  () => {
    const page = evalReportHtml(
      sampleReport({ cases: 900, trials: 4, padding: ' and so on'.repeat(300) }),
    );
    expect(page.length).toBeLessThan(32_000_000);
    const rows = page.split('<li class="case"').slice(1);
    expect(rows).toHaveLength(900);
    const hasNoRoom = (row: string): boolean => row.includes('There is no room for more');
    const failed = rows.filter((row) => row.includes('class="outcome failed"'));
    expect(failed.length).toBeGreaterThan(3);
    expect(failed.filter(hasNoRoom)).toEqual([]);
    expect(rows.filter(hasNoRoom).length).toBeGreaterThan(100);
    for (const row of rows) expect(row.match(/adjutant show eval/g)).toHaveLength(8);
  },
);
