import { useEffect, useRef } from 'react';
import { Button } from './button.tsx';
import styles from './drawer.module.css';

interface DrawerProps {
  readonly label: string;
  readonly head: React.ReactNode;
  readonly children: React.ReactNode;
  readonly foot?: React.ReactNode;
  /** It takes the whole height: nothing stands at the foot of the page. @default false */
  readonly isWhole?: boolean;
  readonly onClose: () => void;
}

/** A panel over the right side of the page: the page goes on beside it. Esc closes it. */
export function Drawer(props: DrawerProps) {
  const { label, head, children, foot, isWhole = false, onClose } = props;
  const element = useRef<HTMLElement>(null);
  const latest = useRef(onClose);
  latest.current = onClose;
  useEffect(() => {
    const before = document.activeElement;
    element.current?.focus({ preventScroll: true });
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== 'Escape' || document.querySelector('dialog[open], :popover-open') !== null)
        return;
      event.stopPropagation();
      event.preventDefault();
      latest.current();
    };
    addEventListener('keydown', onKey, { capture: true });
    return () => {
      removeEventListener('keydown', onKey, { capture: true });
      if (before instanceof HTMLElement) before.focus({ preventScroll: true });
    };
  }, []);
  return (
    <aside
      ref={element}
      className={styles['drawer']}
      data-whole={isWhole || undefined}
      aria-label={label}
      tabIndex={-1}
    >
      <header className={styles['head']}>
        <div className={styles['words']}>{head}</div>
        <Button look="bare" icon="close" label="Close (Esc)" onPress={onClose} />
      </header>
      <div className={styles['body']} tabIndex={0} role="group" aria-label={label}>
        {children}
      </div>
      {foot === undefined ? null : <footer className={styles['foot']}>{foot}</footer>}
    </aside>
  );
}
