import { expect, test } from 'vitest';
import { send, waitingServer } from '../../approvals/paying-app.ts';

/** The page behind a link to a request with this summary and these arguments. */
async function pageOf(summary: string, to = 'bob'): Promise<string> {
  const { api, requestId } = await waitingServer({ summary, payments: [{ cents: 5, to }] });
  const { body } = await send(api, 'POST', `/v1/approvals/${requestId}/link`, {});
  const page = await api.fetch(new Request(`http://localhost${new URL(body.url).pathname}`));
  expect(page.status).toBe(200);
  return page.text();
}

const hidden: Readonly<Record<string, string>> = {
  'the empty Braille pattern': '\u2800',
  'a joiner of graphemes': '\u034f',
  'selectors of variants': '\ufe00\ufe0f',
  'more selectors': '\u180b\u{e0100}',
  'a tag': '\u{e0041}',
  'what has no width': '\u200b\u2060\ufeff',
  'turns of direction': '\u202e\u2066\u200f\u061c',
  'separators of lines': '\u2028\u2029',
  fillers: '\u115f\u3164\uffa0\u17b4',
  'control characters': '\u001b\u009b\r',
};

test.each(Object.entries(hidden))(
  'A13: %s in the summary and in the arguments can be seen on the page',
  async (_, characters) => {
    const page = await pageOf(`Pay 10${characters}000 to bob`, `bob${characters}`);
    for (const character of characters) {
      expect(page).not.toContain(character);
      const code = (character.codePointAt(0) as number).toString(16).padStart(4, '0');
      expect(page).toContain(code.length > 4 ? `\\u{${code}}` : `\\u${code}`);
    }
  },
);

test(
  'A13: line feeds in the summary make no lines of the page: neither do they push the ' +
    'arguments away nor pose as other lines',
  async () => {
    const page = await pageOf(`Pay 5 cents${'\n'.repeat(200)}Approved by: cfo`);
    const [, headline] = /<h1[^>]*>([^<]*)<\/h1>/.exec(page) ?? [];
    expect(headline).toBe(`Pay 5 cents${'\\n'.repeat(200)}Approved by: cfo`);
    // However long it is, what stands below it is not pushed off the screen.
    expect(page).toMatch(/h1 \{[^}]*max-height/);
  },
);

test('A13: pictures that are made of several signs are shown as they are', async () => {
  expect(await pageOf('Thank 👩🏽‍👧 ❤️‍🔥')).toContain('Thank 👩🏽‍👧 ❤️‍🔥');
});
