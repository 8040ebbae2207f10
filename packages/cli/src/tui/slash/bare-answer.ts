import type { AppControl } from '../app/control.ts';
import type { GivenDecision } from '../session/conversation.ts';

const bareAnswer = /^(?:(y|yes)|n|no)$/i;

/**
 * Asks what a message is that is nothing but a yes or a no, where one call waits to be allowed: the
 * answer to that, or a message. Returns false where nothing is to be asked.
 */
export function asksAboutAnswer(
  app: Pick<AppControl, 'feed' | 'conversation' | 'choose' | 'compose' | 'fail'>,
  text: string,
  say: () => void,
): boolean {
  const words = bareAnswer.exec(text.trim());
  const [request, ...others] = app.feed.requests;
  if (words === null || request?.kind !== 'approval' || others.length > 0) return false;
  const isYes = words[1] !== undefined;
  const given: GivenDecision = { decision: isYes ? 'approve' : 'reject' };
  const answer = (): void =>
    void app.conversation
      .answer(request.requestId, given)
      .catch((error: unknown) => app.fail(error));
  const choice = (shown: string, take: () => void) => ({
    ...{ text: shown, take },
    line: [{ text: shown }],
  });
  // Enter never agrees: the message comes first.
  const choices = [
    choice('it is a message', say),
    choice(isYes ? 'yes, allow it' : 'no, refuse it', answer),
  ];
  const onClose = (): void => app.compose(text);
  app.choose(`Is that the answer to #${request.seq}?`, choices, { onClose });
  return true;
}
