import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useState } from 'react';
import { useToast } from './toasts.tsx';

interface Act {
  /** Does the act; throws when the server refuses it. */
  readonly run: () => Promise<unknown>;
  /** Said when it is done. @default nothing: the page shows it */
  readonly done?: string;
  /** The opposite act, which is offered for ten seconds. */
  readonly undo?: () => Promise<unknown>;
  /** Keys of what has to be read again. */
  readonly changes?: readonly (readonly unknown[])[];
}

/**
 * Does acts of the reader, one at a time: shows refusals, reads again what changed, offers the
 * opposite act.
 */
export function useAct(): {
  readonly act: (act: Act) => Promise<boolean>;
  readonly isBusy: boolean;
} {
  const show = useToast();
  const queries = useQueryClient();
  const [isBusy, setBusy] = useState(false);
  const act = useCallback(
    async ({ run, done, undo, changes = [] }: Act): Promise<boolean> => {
      const again = () =>
        Promise.all(changes.map((queryKey) => queries.invalidateQueries({ queryKey })));
      setBusy(true);
      try {
        await run();
        if (done !== undefined)
          show({
            text: done,
            ...(undo === undefined
              ? {}
              : {
                  undo: () => {
                    undo()
                      .then(again)
                      .catch((error: unknown) => show({ text: wordsOf(error), isFailure: true }));
                  },
                }),
          });
        return true;
      } catch (error) {
        show({ text: wordsOf(error), isFailure: true });
        return false;
      } finally {
        setBusy(false);
        await again();
      }
    },
    [show, queries],
  );
  return { act, isBusy };
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
