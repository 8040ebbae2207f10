import { systemTurns } from 'adjutant/ports';

const longestPart = 65_536;

/**
 * Answers with JSON that is given in pieces, a part at a time: to make and encode one text of many
 * megabytes would hold others up.
 */
export function streamedJson(pieces: Iterable<string>): Response {
  const encoder = new TextEncoder();
  const parts = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
    let part = '';
    for (const piece of pieces) {
      part += piece;
      if (part.length < longestPart) continue;
      yield encoder.encode(part);
      part = '';
      await systemTurns.pass();
    }
    yield encoder.encode(part);
  };
  return new Response(ReadableStream.from(parts()), {
    status: 200,
    headers: { 'content-type': 'application/json' },
  });
}

/** The pieces of a JSON list whose entries are written already, between two texts. */
export function* listed(
  start: string,
  texts: readonly string[],
  end: string,
): Generator<string, void, undefined> {
  yield `${start}[`;
  for (const [i, text] of texts.entries()) yield i === 0 ? text : `,${text}`;
  yield `]${end}`;
}

/** Writes entries one by one: a long list in one piece would hold others up. */
export async function writtenInTurns(entries: Iterable<unknown>): Promise<readonly string[]> {
  const texts: string[] = [];
  for (const entry of entries) {
    texts.push(JSON.stringify(entry));
    const turn = systemTurns.pass();
    if (turn !== undefined) await turn;
  }
  return texts;
}
