import { useSearch } from 'wouter';
import { Failure, Reading } from '../../components/states.tsx';
import { useLedger } from '../session/use-ledger.ts';
import { Comparison } from './comparison.tsx';
import { SessionPicker } from './session-picker.tsx';

/** Two sessions beside each other: what they share, and from where on they differ. */
export function ComparePage() {
  const search = new URLSearchParams(useSearch());
  const [a, b] = [search.get('a') ?? '', search.get('b') ?? ''];
  if (a === '' || b === '') return <SessionPicker a={a} b={b} />;
  return <Both key={`${a} ${b}`} a={a} b={b} />;
}

function Both({ a, b }: { readonly a: string; readonly b: string }) {
  const left = useLedger(a);
  const right = useLedger(b);
  for (const [name, ledger] of [
    ['A', left],
    ['B', right],
  ] as const) {
    if (ledger.phase === 'failed' && ledger.columns.count === 0)
      return <Failure error={ledger.error} what={`Session ${name}`} />;
    if (ledger.phase === 'reading') return <Reading what="both sessions" />;
  }
  return <Comparison left={left} right={right} />;
}
