import { refusalOf } from '../../../api/client.ts';
import { Button } from '../../../components/button.tsx';
import { Failure, PlaceHolder } from '../../../components/states.tsx';
import { visible } from '../../../components/visible-text.ts';
import type { Columns } from '../../../ledger/columns.ts';
import type { Position } from '../position.ts';

interface StateFailureProps {
  readonly error: unknown;
  readonly columns: Columns;
  readonly position: Position;
}

/** The place of a state that could not be read. */
export function StateFailure({ error, columns, position }: StateFailureProps) {
  const refusal = refusalOf(error);
  if (refusal?.code !== 'ledger_unreadable') return <Failure error={error} what="The state" />;
  // Of a newer version, or damaged: everything before the first one can be shown.
  const first = columns.find(0, 1, (seq) => columns.typeAt(seq) === 'unreadable') ?? 1;
  return (
    <PlaceHolder title="The state after an event that cannot be read is not known." role="alert">
      <p>{visible(refusal.message)}</p>
      {first === 1 ? null : (
        <Button onPress={() => position.go(first - 1, true)}>Go to #{first - 1}</Button>
      )}
    </PlaceHolder>
  );
}
