import type { ListedNotice } from 'adjutant/notifications';
import type { SentNotice } from '../../access/notices/notice-access.ts';
import type { Host } from '../../host/host.ts';
import { formatTime, shorten } from '../format.ts';
import { plainLine, plainText } from '../plain-text.ts';
import { styleFor } from '../style.ts';
import { tableLines } from '../table.ts';

const longestCell = 60;

/** Writes notices as a table. */
export function writeNoticeTable(
  { stdout }: Pick<Host, 'stdout'>,
  notices: readonly ListedNotice[],
): void {
  const rows = notices.map((notice) => [
    formatTime(notice.at),
    notice.status,
    plainLine(notice.attempts.at(-1)?.channel ?? '–'),
    shorten(plainLine(notice.title), longestCell),
    shorten(plainLine(reasonOf(notice)), longestCell),
  ]);
  const [head = '', ...lines] = tableLines(['AT', 'STATE', 'CHANNEL', 'TITLE', 'WHY'], rows);
  stdout.write(`${[styleFor(stdout).bold(head), ...lines].join('\n')}\n`);
}

/** Reason why a notice is not sent, as far as there is one. */
function reasonOf({ attempts, reason, status }: ListedNotice): string {
  if (status === 'sent') return '';
  return [reason?.replaceAll('_', ' '), attempts.at(-1)?.error].filter(Boolean).join(': ');
}

/** Writes a notice as it comes: its time and title, and below them its text and its links. */
export function writeNotice(
  { clock, stdout }: Pick<Host, 'clock' | 'stdout'>,
  { actions = [], text, title }: SentNotice,
): void {
  const style = styleFor(stdout);
  const lines = [
    ...(text === '' ? [] : plainText(text).split('\n')),
    ...actions.map(({ label, url }) => `${plainLine(label)}: ${plainLine(url)}`),
  ].map((line) => `  ${line}`);
  const head = `${style.dim(formatTime(clock.now()))} ${style.bold(plainLine(title))}`;
  stdout.write(`${[head, ...lines].join('\n')}\n`);
}
