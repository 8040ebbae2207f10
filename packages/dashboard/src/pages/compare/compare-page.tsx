import { useLocation, useSearch } from 'wouter';
import { Button } from '../../components/button.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { Failure, PlaceHolder, Reading } from '../../components/states.tsx';
import { useLedger } from '../session/use-ledger.ts';
import { Comparison } from './comparison.tsx';
import { SessionPicker } from './session-picker.tsx';

/** Two sessions beside each other: what they share, and from where on they differ. */
export function ComparePage() {
  const [, go] = useLocation();
  const search = new URLSearchParams(useSearch());
  const [a, b] = [search.get('a') ?? '', search.get('b') ?? ''];
  if (a === '' || b === '') return <SessionPicker a={a} b={b} />;
  if (a === b)
    return (
      <>
        <PageHead title="Compare" />
        <PlaceHolder title="Both sides are the same session." role="alert">
          <p>They do not differ. A fork of it can.</p>
          <Button onPress={() => go(`/compare?a=${encodeURIComponent(a)}`)}>
            Choose another one
          </Button>
        </PlaceHolder>
      </>
    );
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
