import { createContext, useCallback, useContext, useEffect, useState } from 'react';
import { Button } from './button.tsx';
import styles from './toasts.module.css';
import { visible } from './visible-text.ts';

/** Message at the foot of the page about an act of the reader. */
export interface Toast {
  readonly text: string;
  readonly isFailure?: boolean;
  /** The opposite act: offered for ten seconds. */
  readonly undo?: () => void;
}

const Show = createContext<(toast: Toast) => void>(() => undefined);
const shownMs = 10_000;

/** Shows one message at a time. What the page shows already is not said again. */
export function Toasts({ children }: { readonly children: React.ReactNode }) {
  const [toast, setToast] = useState<Toast | undefined>();
  const show = useCallback((next: Toast) => setToast(next), []);
  useEffect(() => {
    if (toast === undefined) return undefined;
    const timer = setTimeout(() => setToast(undefined), shownMs);
    return () => clearTimeout(timer);
  }, [toast]);
  const undo = toast?.undo;
  return (
    <Show.Provider value={show}>
      {children}
      <div className={styles['place']} role="status" aria-live="polite">
        {toast === undefined ? null : (
          <div className={styles['toast']} data-failure={toast.isFailure || undefined}>
            <span>{visible(toast.text)}</span>
            {undo === undefined ? null : (
              <Button
                onPress={() => {
                  setToast(undefined);
                  undo();
                }}
              >
                Undo
              </Button>
            )}
            <Button look="bare" icon="close" label="Close" onPress={() => setToast(undefined)} />
          </div>
        )}
      </div>
    </Show.Provider>
  );
}

export function useToast(): (toast: Toast) => void {
  return useContext(Show);
}
