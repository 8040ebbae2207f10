import { shortened, titleLine } from '../delivery/notice-text.ts';
import type { Notice } from '../notice.ts';

/** Bytes of the text that fit into the 4,096 of a message that push services take. */
const mostBytes = 3_800;
const longestTitle = 200;

/**
 * Returns what the service worker of a page gets, in JSON. `tag` lets it show a repeated notice
 * once. A long text is cut; actions that do not fit are left out.
 */
export function pushPayload(notice: Notice, tag: string): string {
  const { id, actions = [], about, urgent } = notice;
  const text = notice.text.trim();
  const title = shortened(titleLine(notice), longestTitle);
  const payload = (length: number, links = actions): string =>
    JSON.stringify({
      ...{ id, tag, title, text: shortened(text, length) },
      ...(links.length === 0 ? {} : { actions: links }),
      ...(about === undefined ? {} : { about }),
      ...(urgent === true ? { urgent } : {}),
    });
  for (let length = mostBytes; length >= 1; length = Math.floor(length / 1.5))
    if (Buffer.byteLength(payload(length)) <= mostBytes) return payload(length);
  return payload(longestTitle, []);
}
