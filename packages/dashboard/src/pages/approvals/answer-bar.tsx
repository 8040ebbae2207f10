import type { Answer, ServerRequest } from '@adjutant/server/client';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { api, refusalOf } from '../../api/client.ts';
import { Button } from '../../components/button.tsx';
import { changesOf } from '../../components/schema-form/changes.ts';
import type { Draft, Problem } from '../../components/schema-form/shapes.ts';
import { useAct } from '../../components/use-act.ts';
import { isTyping } from '../../shell/is-typing.ts';
import styles from './request-detail.module.css';
import { type Decision, decisionWords, type editOf } from './request-words.ts';
import type { Extent } from './standing.ts';

interface AnswerBarProps {
  readonly request: ServerRequest;
  readonly edit: ReturnType<typeof editOf>;
  readonly before: unknown;
  readonly value: Draft | undefined;
  readonly problems: readonly Problem[];
  readonly reason: string;
  /** Later calls that an approval holds for, too. */
  readonly always: Extent | undefined;
  readonly unless: string | undefined;
  /** Called before an answer is sent. */
  readonly onSend: () => void;
  readonly onAnswered: () => void;
}

/** Decisions that need nothing written, in the order of their buttons. */
const plainDecisions = ['succeeded', 'retry', 'report'] as const;

/** The decisions that a request offers. A, R and E do the same as its buttons. */
export function AnswerBar(props: AnswerBarProps) {
  const { request, edit, before, value, problems, unless } = props;
  const { options } = request;
  const { send, isBusy } = useSend(props);
  const isChanged = before !== undefined && changesOf(before, value).length > 0;
  const [problem] = problems;
  const wrong = problem && `${problem.path === '' ? 'Value' : problem.path}: ${problem.text}`;
  const main: Decision | undefined = isChanged
    ? 'edit'
    : (['approve', 'answer', 'continue'] as const).find((one) => options.includes(one));
  const isWritten =
    main === 'edit' || main === 'answer' || (main === 'continue' && value !== undefined);
  const unlessMain = unless ?? (isWritten ? wrong : undefined);
  useAnswerKeys({
    approve:
      unlessMain === undefined && main !== undefined && !isBusy ? () => send(main) : undefined,
    reject:
      unless === undefined && options.includes('reject') && !isBusy
        ? () => send('reject')
        : undefined,
    edit: unless === undefined && edit !== undefined ? editForm : undefined,
  });
  return (
    <footer className={styles['answers']}>
      {main === undefined ? null : (
        <Button
          look="first"
          shortcut="A"
          {...{ isBusy }}
          unless={unlessMain}
          onPress={() => send(main)}
        >
          {decisionWords[main][0]}
        </Button>
      )}
      {isChanged ? (
        <Button unless={unless} onPress={() => send('approve')}>
          Approve as asked
        </Button>
      ) : null}
      {plainDecisions
        .filter((one) => options.includes(one))
        .map((one) => (
          <Button key={one} unless={unless} onPress={() => send(one)}>
            {decisionWords[one][0]}
          </Button>
        ))}
      {options.includes('reject') ? (
        <Button look="bad" shortcut="R" unless={unless} onPress={() => send('reject')}>
          Reject
        </Button>
      ) : null}
      <span className={styles['hint']}>
        {unlessMain ?? 'The run goes on at once, in whichever process is free.'}
      </span>
    </footer>
  );
}

/** Sends an answer. One that came second is no failure: the page shows who was first. */
function useSend({ request, edit, value, reason, always, onSend, onAnswered }: AnswerBarProps) {
  const queries = useQueryClient();
  const { act, isBusy } = useAct();
  const send = (decision: Decision): void => {
    const { requestId } = request;
    const answer = {
      decision,
      ...(decision === edit?.decision && value !== undefined ? { input: value } : {}),
      ...(decision === 'approve' && always !== undefined ? { always } : {}),
      ...(reason.trim() === '' ? {} : { reason }),
    } as Answer;
    void act({
      run: async () => {
        try {
          await api.approvals.answer(requestId, answer);
          onSend();
          onAnswered();
        } catch (error) {
          if (refusalOf(error)?.code !== 'request_settled') throw error;
          await queries.invalidateQueries({ queryKey: ['approvals', 'one', requestId] });
        }
      },
      changes: [['approvals'], ['sessions']],
    });
  };
  return { send, isBusy };
}

/** Leads to the first field of the form. */
function editForm(): void {
  const field = '[data-edit-form] :is(input, textarea, select)';
  document.querySelector<HTMLElement>(field)?.focus();
}

interface AnswerKeys {
  readonly approve: (() => void) | undefined;
  readonly reject: (() => void) | undefined;
  readonly edit: (() => void) | undefined;
}

function useAnswerKeys(keys: AnswerKeys): void {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (isTyping(event) || event.metaKey || event.ctrlKey || event.altKey || event.repeat) return;
      const { approve, reject, edit } = latest.current;
      const act = { a: approve, r: reject, e: edit }[event.key.toLowerCase()];
      if (act === undefined) return;
      event.preventDefault();
      act();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}
