import { useEffect, useRef } from 'react';
import type { Columns } from '../../ledger/columns.ts';
import { isTyping } from '../../shell/is-typing.ts';
import type { Position } from './position.ts';

interface SessionKeys {
  readonly columns: Columns;
  readonly position: Position;
  readonly play: () => void;
  readonly fork: () => void;
  readonly prompt: () => void;
}

const many = 10;

/** Keys of a session: they act outside of fields and dialogs. */
export function useSessionKeys(keys: SessionKeys): void {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (isTyping(event) || event.metaKey || event.ctrlKey) return;
      // A button that has the focus is pressed by the space bar.
      if (
        event.key === ' ' &&
        event.target instanceof HTMLElement &&
        event.target.closest('button, a, summary') !== null
      )
        return;
      const act = actOf(event, latest.current);
      if (act === undefined) return;
      event.preventDefault();
      act();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}

function actOf(event: KeyboardEvent, keys: SessionKeys): (() => void) | undefined {
  const { columns, position } = keys;
  const { seq, go, goLive } = position;
  const jump = (step: 1 | -1, isWanted: (seq: number) => boolean) => () => {
    const found = columns.find(seq, step, isWanted);
    if (found !== undefined) go(found, true);
  };
  const isDecision = (one: number): boolean => columns.kindAt(one) === 'decision';
  const isModelCall = (one: number): boolean => columns.typeAt(one) === 'model_start';
  const step = event.shiftKey ? many : 1;
  switch (event.key) {
    case 'ArrowLeft':
      return event.altKey ? jump(-1, isDecision) : () => go(seq - step);
    case 'ArrowRight':
      return event.altKey ? jump(1, isDecision) : () => go(seq + step);
    case 'Home':
      return () => go(1, true);
    case 'End':
    case 'l':
    case 'L':
    case 'Escape':
      return goLive;
    case '[':
      return jump(-1, isModelCall);
    case ']':
      return jump(1, isModelCall);
    case ' ':
      return keys.play;
    case 'p':
    case 'P':
      return keys.prompt;
    case 'f':
    case 'F':
      return keys.fork;
    default:
      return undefined;
  }
}
