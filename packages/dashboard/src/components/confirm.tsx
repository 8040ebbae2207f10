import { useEffect, useRef } from 'react';
import { Button } from './button.tsx';
import styles from './confirm.module.css';

interface ConfirmProps {
  /** Names the act and the thing: "Delete the session customer-7?" */
  readonly title: string;
  /** Says what goes, and what stays. */
  readonly children: React.ReactNode;
  /** The act, in the words of its button. */
  readonly act: string;
  /** @default 'bad': the act takes something away */
  readonly look?: 'first' | 'bad';
  readonly isBusy?: boolean;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}

/** Asks before an act that cannot be taken back. */
export function Confirm({
  title,
  children,
  act,
  look = 'bad',
  isBusy = false,
  onConfirm,
  onClose,
}: ConfirmProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  return (
    <dialog ref={dialog} className={styles['confirm']} aria-label={title} onClose={onClose}>
      <h2>{title}</h2>
      <div className={styles['text']}>{children}</div>
      <footer className={styles['acts']}>
        <Button onPress={onClose}>Cancel</Button>
        <Button look={look} isBusy={isBusy} onPress={onConfirm}>
          {act}
        </Button>
      </footer>
    </dialog>
  );
}
