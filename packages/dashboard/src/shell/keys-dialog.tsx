import { useEffect, useRef } from 'react';
import styles from './keys-dialog.module.css';

const keys: readonly (readonly [string, string])[] = [
  ['⌘K', 'Search and commands'],
  ['G then N S A T', 'Now, Sessions, Approvals, Tasks'],
  ['/', 'Filter this list'],
  ['← →', 'One event back, forward'],
  ['⇧← ⇧→', 'Ten events'],
  ['⌥← ⌥→', 'Decision before, after'],
  ['[ ]', 'Model call before, after'],
  ['Home End', 'First event, newest'],
  ['L', 'Follow live'],
  ['Space', 'Play, pause'],
  ['P', 'Prompt of this call'],
  ['F', 'Fork from here'],
  ['A R E', 'Approve, reject, edit'],
  ['Esc', 'Close, or back to live'],
];

/** The keys of all pages. */
export function KeysDialog({ onClose }: { readonly onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  return (
    <dialog ref={dialog} className={styles['dialog']} aria-label="Keys" onClose={onClose}>
      <h2>Keys</h2>
      <dl className={styles['keys']}>
        {keys.map(([combination, act]) => (
          <div key={combination}>
            <dt>
              {combination
                .split(' ')
                .map((part) =>
                  part === 'then' ? <span key={part}> then </span> : <kbd key={part}>{part}</kbd>,
                )}
            </dt>
            <dd>{act}</dd>
          </div>
        ))}
      </dl>
    </dialog>
  );
}
