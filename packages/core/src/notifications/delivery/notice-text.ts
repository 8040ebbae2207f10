import { cutText } from '../../base/text/cut-text.ts';
import type { Notice, NoticeAction } from '../notice.ts';

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
/** UTF-16 units of the longest character that is kept whole. */
const longestCharacter = 64;

/**
 * Returns at most `length` UTF-16 units of a text, cut between two characters as people see them. A
 * text that was cut ends with an ellipsis.
 */
export function shortened(text: string, length: number): string {
  const whole = text.toWellFormed();
  if (whole.length <= length) return whole;
  const place = Math.max(0, length - 1);
  const start = graphemes.segment(whole.slice(0, place + longestCharacter)).containing(place);
  const border =
    start === undefined || start.index < place - longestCharacter ? place : start.index;
  return length < 1 ? '' : `${cutText(whole, border)}…`;
}

/** Returns the title on one line. */
export function titleLine({ title }: Notice): string {
  return title.toWellFormed().replaceAll(/\s+/g, ' ').trim();
}

/**
 * Returns a notice as plain text of at most `length` units: title, text and links. The text is cut
 * before a link is; links that would take more than half of the room are left out.
 */
export function plainText(notice: Notice, length = Number.POSITIVE_INFINITY): string {
  const links = linkLines(notice.actions ?? [], length / 2);
  const room = length - links.length;
  const head = [titleLine(notice), notice.text.trim()].filter((part) => part !== '').join('\n\n');
  return shortened(head, room) + links;
}

function linkLines(actions: readonly NoticeAction[], length: number): string {
  let lines = '';
  for (const { label, url } of actions) {
    const line = `\n${label.toWellFormed().replaceAll(/\s+/g, ' ').trim()}: ${url}`;
    if (lines.length + line.length + 1 <= length) lines += line;
  }
  return lines === '' ? '' : `\n${lines}`;
}
