import { useCallback, useEffect, useMemo, useState } from 'react';
import { useLocation } from 'wouter';
import { Button } from '../../components/button.tsx';
import { SearchField } from '../../components/search-field.tsx';
import { SelectField } from '../../components/select-field.tsx';
import { useLate } from '../../components/use-late.ts';
import { type AuditFields, addressOf, outcomeNames } from './audit-filters.ts';
import styles from './audit-page.module.css';

/** Fields of the filter: the address has what they say. */
export function AuditFilterBar({ fields }: { readonly fields: AuditFields }) {
  const { typed, setTyped, change, clear } = useTyped(fields);
  return (
    <div className={styles['filters']} role="search" aria-label="Filter the audit log">
      <SearchField
        label="Caller"
        placeholder="Caller, such as key:7k3m…"
        value={typed.principal}
        onChange={(principal) => setTyped({ ...typed, principal })}
      />
      <input
        className={styles['field']}
        aria-label="Action"
        placeholder="Action"
        value={typed.action}
        onChange={(event) => setTyped({ ...typed, action: event.target.value })}
      />
      <SelectField
        label="Outcome"
        value={fields.outcome}
        options={[['', 'Any outcome'], ...outcomeNames]}
        onChange={(outcome) => change({ outcome })}
      />
      {(['from', 'to'] as const).map((end) => (
        <label key={end} className={styles['time']}>
          <span>{end === 'from' ? 'From' : 'To'}</span>
          <input
            type="datetime-local"
            className={styles['field']}
            value={fields[end]}
            onChange={(event) => change({ [end]: event.target.value })}
          />
        </label>
      ))}
      {Object.values(fields).every((one) => one === '') ? null : (
        <Button look="bare" icon="close" onPress={clear}>
          Clear
        </Button>
      )}
    </div>
  );
}

/** Text that is typed goes into the address once it rests. */
function useTyped(fields: AuditFields) {
  const [, go] = useLocation();
  const { principal, action } = fields;
  const [typed, setTyped] = useState({ principal, action });
  const late = useLate(useMemo(() => typed, [typed]));
  const change = useCallback(
    (changed: Partial<AuditFields>) => go(addressOf({ ...fields, ...changed }), { replace: true }),
    [go, fields],
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: only what was typed is taken over
  useEffect(() => {
    if (late.principal !== principal || late.action !== action) change(late);
  }, [late]);
  // A link of the list changes the address: the fields follow it.
  useEffect(() => setTyped({ principal, action }), [principal, action]);
  const clear = (): void => {
    setTyped({ principal: '', action: '' });
    go('/audit', { replace: true });
  };
  return { typed, setTyped, change, clear };
}
