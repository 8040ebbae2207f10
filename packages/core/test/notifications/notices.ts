import type { Notice, NotificationFailedError, SendContext } from 'adjutant/notifications';

export const approval: Notice = {
  id: 'n1',
  tenant: 'acme',
  user: 'ada',
  title: 'May I pay?',
  text: 'The invoice of Löwe & Söhne <GmbH> is due.',
  actions: [{ label: 'Decide', url: 'https://app.example/approvals/7' }],
  about: { session: 's1', request: 'r7' },
};

export function sending(signal?: SendContext['signal']): SendContext {
  return { signal: signal ?? new AbortController().signal, idempotencyKey: 'key-1' };
}

/** Returns the error that a sending is rejected with. */
export async function failureOf(sent: Promise<unknown>): Promise<NotificationFailedError> {
  try {
    await sent;
  } catch (error) {
    return error as NotificationFailedError;
  }
  throw new Error('The notice was sent.');
}
