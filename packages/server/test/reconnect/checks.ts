import type { ClientFrame } from './client.ts';

/**
 * Answers that were checked, and those that a client had read to their end before they were
 * durable.
 */
export interface TextCount {
  answers: number;
  whole: number;
}

/**
 * Returns the fault in the frames of a client, if there is one. They must be exactly those that are
 * expected, in order, each once.
 */
export function differenceFrom(
  frames: readonly ClientFrame[],
  expected: readonly Pick<ClientFrame, 'id' | 'data'>[],
): string | undefined {
  const got = frames.filter(({ id }) => id !== undefined);
  const length = Math.max(got.length, expected.length);
  for (let i = 0; i < length; i++) {
    const [mine, right] = [got[i], expected[i]];
    if (mine === undefined)
      return `${expected.length - got.length} are missing from ${right?.id} on`;
    if (right === undefined)
      return `${got.length - expected.length} are too many, from ${mine.id} on`;
    if (mine.id !== right.id) return `there is ${mine.id} in the place of ${right.id}`;
    if (mine.data !== right.data)
      return `${mine.id} is ${mine.data.slice(0, 200)} and not ${right.data.slice(0, 200)}`;
  }
  return undefined;
}

interface Parsed {
  readonly type: string;
  readonly invocationId?: string;
  readonly delta?: string;
  readonly text?: string;
}

/**
 * Joins the parts of answers as clients do: what was streamed of an answer must be the beginning of
 * what is durable.
 */
export function textDifference(
  frames: readonly ClientFrame[],
  count: TextCount,
): string | undefined {
  const texts = new Map<string, string>();
  for (const { data } of frames) {
    const { type, invocationId = '', delta = '', text = '' } = JSON.parse(data) as Parsed;
    if (type === 'stream_reset') texts.delete(invocationId);
    else if (type === 'assistant_delta')
      texts.set(invocationId, (texts.get(invocationId) ?? '') + delta);
    else if (type === 'assistant') {
      const streamed = texts.get(invocationId) ?? '';
      count.answers++;
      if (streamed === text) count.whole++;
      if (!text.startsWith(streamed))
        return (
          `of "${invocationId}" it has "${streamed.slice(-60)}", which ` +
          `"${text.slice(0, 60)}…" does not begin with`
        );
    } else if (type === 'model_end') texts.delete(invocationId);
  }
  return undefined;
}

/** The same for the profile `messages`: chunks since the last start are the text at the end. */
export function messageDifference(frames: readonly ClientFrame[]): string | undefined {
  const texts = new Map<string, string>();
  for (const { event, data } of frames) {
    const { message_id: id = '', text = '' } = JSON.parse(data) as {
      message_id?: string;
      text?: string;
    };
    if (event === 'MESSAGE_START') texts.set(id, '');
    else if (event === 'MESSAGE_CHUNK') texts.set(id, (texts.get(id) ?? '?') + text);
    else if (event === 'MESSAGE_END' && texts.get(id) !== text)
      return `of ${id} it has "${texts.get(id)?.slice(0, 80)}" and not "${text.slice(0, 80)}"`;
  }
  return undefined;
}
