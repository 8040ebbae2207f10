import { sha256 } from '../../base/hash.ts';
import { InvalidOptionError } from '../../base/invalid-option.ts';
import { canonicalJson } from '../../base/json.ts';
import type { Notice, NoticeAction } from '../notice.ts';
import { shortened, titleLine } from './notice-text.ts';

/** Notices that are shown one by one; the rest is counted. */
const mostShown = 20;
/** UTF-16 units of the text of each. */
const longestText = 300;
/** Actions of all together. */
const mostActions = 10;

/**
 * Joins the notices of one recipient into one. A single notice stays as it is. The joined one is
 * urgent when one of them is, and expires when all have.
 * @throws InvalidOptionError for none, or for notices of several recipients
 */
export function joinNotices(notices: readonly Notice[]): Notice {
  const [first, ...others] = notices;
  if (first === undefined) throw refusal('there is no notice');
  const { tenant, user } = first;
  if (others.some((notice) => notice.tenant !== tenant || notice.user !== user))
    throw refusal('the notices have several recipients');
  if (others.length === 0) return first;
  const joins = notices.flatMap(({ id, joins: joined }) => joined ?? [id]);
  const expiries = notices.flatMap(({ expiresAt }) => expiresAt ?? []);
  const actions = notices.flatMap(actionsOf).slice(0, mostActions);
  const about = canonicalJson(first.about ?? null);
  const isSame = notices.every((notice) => canonicalJson(notice.about ?? null) === about);
  return {
    id: `joined-${sha256(JSON.stringify(joins)).slice(0, 32)}`,
    ...{ tenant, user, joins },
    title: `${notices.length} notices`,
    text: textOf(notices),
    ...(actions.length === 0 ? {} : { actions }),
    ...(isSame && first.about !== undefined ? { about: first.about } : {}),
    ...(notices.some(({ urgent }) => urgent === true) ? { urgent: true } : {}),
    ...(expiries.length < notices.length ? {} : { expiresAt: Math.max(...expiries) }),
  };
}

function textOf(notices: readonly Notice[]): string {
  const shown = notices
    .slice(0, mostShown)
    .map((notice) =>
      [titleLine(notice), shortened(notice.text.trim(), longestText)].filter(Boolean).join('\n'),
    );
  const rest = notices.length - shown.length;
  return [...shown, ...(rest > 0 ? [`And ${rest} more.`] : [])].join('\n\n');
}

/** Returns the actions of a notice, with labels that say what they belong to. */
function actionsOf(notice: Notice): readonly NoticeAction[] {
  const title = titleLine(notice);
  return (notice.actions ?? []).map(({ label, url }) => ({
    label: title === '' ? label : `${label}: ${title}`,
    url,
  }));
}

function refusal(reason: string): InvalidOptionError {
  return new InvalidOptionError({ function: 'joinNotices', reason });
}
