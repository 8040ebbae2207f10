import { sha256 } from '../../base/hash.ts';
import { visibleLine } from '../../base/text/visible-text.ts';
import { plainText, titleLine } from '../delivery/notice-text.ts';
import type { Notice } from '../notice.ts';
import type { Mailbox } from './address.ts';

/** A message as transports of the package `nodemailer` take it. */
export interface EmailMessage {
  readonly from: Mailbox;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** The same for all attempts under one key, so that mail programs show doubles once. */
  readonly messageId: string;
  readonly headers: { readonly [name: string]: string };
  readonly disableFileAccess: true;
  readonly disableUrlAccess: true;
  readonly signal: AbortSignal;
}

export interface EmailRoute {
  readonly from: Mailbox;
  readonly to: string;
  readonly idempotencyKey: string;
  readonly signal: AbortSignal;
}

export function emailMessage(notice: Notice, route: EmailRoute): EmailMessage {
  const { from, to, idempotencyKey, signal } = route;
  const title = visibleLine(titleLine(notice));
  const { title: _, ...withoutTitle } = notice;
  return {
    ...{ from, to, signal },
    subject: title === '' ? 'Notice' : title,
    text: plainText({ ...withoutTitle, title: '' }),
    html: htmlOf(notice, title),
    messageId: `<${sha256(idempotencyKey)}${from.address.slice(from.address.lastIndexOf('@'))}>`,
    // Absence notes and other robots do not answer to it.
    headers: { 'Auto-Submitted': 'auto-generated' },
    ...{ disableFileAccess: true, disableUrlAccess: true },
  };
}

function htmlOf({ text, actions = [] }: Notice, title: string): string {
  const paragraphs = text
    .toWellFormed()
    .trim()
    .split(/\n\s*\n/)
    .filter((paragraph) => paragraph !== '')
    .map((paragraph) => `<p>${escaped(paragraph).replaceAll('\n', '<br>')}</p>`);
  const links = actions.map(
    ({ label, url }) => `<p><a href="${escaped(url)}">${escaped(label.toWellFormed())}</a></p>`,
  );
  const heading = title === '' ? [] : [`<h1>${escaped(title)}</h1>`];
  const body = [...heading, ...paragraphs, ...links].join('\n');
  return `<!doctype html>\n<html><body>\n${body}\n</body></html>`;
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
