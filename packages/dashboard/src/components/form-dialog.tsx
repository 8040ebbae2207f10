import { useEffect, useRef } from 'react';
import { Button } from './button.tsx';
import styles from './form-dialog.module.css';

interface FormDialogProps {
  readonly title: string;
  /** Says what is made, and what becomes of it. */
  readonly help?: React.ReactNode;
  readonly children: React.ReactNode;
  /** The act, in the words of its button. */
  readonly act: string;
  readonly isBusy: boolean;
  /** Fault of the fields, in words. */
  readonly problem?: string | undefined;
  readonly onSubmit: () => void;
  readonly onClose: () => void;
}

/** A form over the page. Esc closes it. */
export function FormDialog(props: FormDialogProps) {
  const { title, help, children, act, isBusy, problem, onSubmit, onClose } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} className={styles['dialog']} aria-label={title} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onSubmit();
        }}
      >
        <h2>{title}</h2>
        {help === undefined ? null : <p className="soft">{help}</p>}
        <div className={styles['fields']}>{children}</div>
        {problem === undefined ? null : (
          <p className={styles['problem']} role="alert">
            {problem}
          </p>
        )}
        <footer className={styles['acts']}>
          <Button onPress={() => dialog.current?.close()}>Cancel</Button>
          <Button look="first" type="submit" isBusy={isBusy}>
            {act}
          </Button>
        </footer>
      </form>
    </dialog>
  );
}

interface FieldProps {
  readonly label: string;
  readonly help?: React.ReactNode;
  readonly children: React.ReactNode;
}

/** A field with its name above it. */
export function Field({ label, help, children }: FieldProps) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is its child
    <label className={styles['field']}>
      <span>{label}</span>
      {children}
      {help === undefined ? null : <small>{help}</small>}
    </label>
  );
}
