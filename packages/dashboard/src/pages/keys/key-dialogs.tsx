import type { IssuedServerKey, ServerKey } from '@adjutant/server/client';
import { useEffect, useRef, useState } from 'react';
import { api } from '../../api/client.ts';
import { Button } from '../../components/button.tsx';
import { Confirm } from '../../components/confirm.tsx';
import { CopyButton } from '../../components/copy/copy-button.tsx';
import { Field, FormDialog } from '../../components/form-dialog.tsx';
import { useAct } from '../../components/use-act.ts';
import { firstLine } from '../../components/visible-text.ts';
import { graces, terms, usualGrace, usualTerm } from './key-words.ts';
import styles from './keys-page.module.css';

interface SecretDialogProps {
  readonly issued: IssuedServerKey;
  readonly onClose: () => void;
}

/** The secret of a key, for the only time. Esc does not close it: nothing brings it back. */
export function SecretDialog({ issued, onClose }: SecretDialogProps) {
  const { key, credential } = issued;
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const title = `The secret of ${firstLine(key.name, 80)}`;
  return (
    <dialog
      ref={dialog}
      className={styles['secret']}
      aria-label={title}
      onCancel={(event) => event.preventDefault()}
      onClose={onClose}
    >
      <h2>
        <bdi>{title}</bdi>
      </h2>
      <p className="soft">It is shown now and never again. Store it where its user finds it.</p>
      <input
        className={styles['credential']}
        aria-label="Secret"
        readOnly
        value={credential}
        onFocus={({ target }) => target.select()}
      />
      <footer>
        <CopyButton text={credential} />
        <Button look="first" onPress={() => dialog.current?.close()}>
          It is stored
        </Button>
      </footer>
    </dialog>
  );
}

interface KeyDialogProps {
  readonly item: ServerKey;
  /** The page is read with this key. */
  readonly isOwn: boolean;
  readonly onClose: () => void;
}

/** Gives a key a new secret. */
export function RotateDialog({
  item,
  isOwn,
  onClose,
  onRotated,
}: KeyDialogProps & { readonly onRotated: (issued: IssuedServerKey) => void }) {
  const { act, isBusy } = useAct();
  const [grace, setGrace] = useState(usualGrace);
  const [term, setTerm] = useState(usualTerm);
  const rotate = (): void =>
    void act({
      run: async () =>
        onRotated(
          await api.keys.rotate(item.id, { graceMs: Number(grace), expiresInMs: Number(term) }),
        ),
      changes: [['keys']],
    });
  return (
    <FormDialog
      title={`Rotate the key ${firstLine(item.name, 80)}`}
      help={
        'It keeps its id and its rights, and gets a new secret.' +
        (isOwn ? ' You read this page with it: sign in with the new one.' : '')
      }
      act="Rotate"
      {...{ isBusy, onClose }}
      onSubmit={rotate}
    >
      <Field label="The secret of now is accepted for another">
        <select value={grace} onChange={(event) => setGrace(event.target.value)}>
          {graces.map(([ms, words]) => (
            <option key={ms} value={ms}>
              {words}
            </option>
          ))}
        </select>
      </Field>
      <Field label="The new one is accepted for">
        <select value={term} onChange={(event) => setTerm(event.target.value)}>
          {terms.map(([ms, words]) => (
            <option key={ms} value={ms}>
              {words}
            </option>
          ))}
        </select>
      </Field>
    </FormDialog>
  );
}

/** Ends a key for good, once the reader has said so. */
export function RevokeDialog({ item, isOwn, onClose }: KeyDialogProps) {
  const { act, isBusy } = useAct();
  const revoke = async (): Promise<void> => {
    const isDone = await act({
      run: () => api.keys.revoke(item.id),
      changes: isOwn ? [['me']] : [['keys']],
    });
    if (isDone) onClose();
  };
  return (
    <Confirm
      title={`Revoke the key ${firstLine(item.name, 80)}?`}
      act="Revoke"
      {...{ isBusy, onClose }}
      onConfirm={() => void revoke()}
    >
      <p>
        Nothing is let in with <span className="mono">{item.id}</span> any more, in all processes,
        for good. What it did stays in the audit log.
      </p>
      {isOwn ? <p>You read this page with it: you will be signed out.</p> : null}
    </Confirm>
  );
}
